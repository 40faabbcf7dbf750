"""Assemble one session, from the first line that mentions it to the last.

A parser calls one method for each kind of content that a line can report. The method either appends a
message to the output or records the line as a duplicate. Content that may arrive over several channels
takes the channel's name. The work is done by collaborators, one idea each:

| collaborator | idea | methods |
|---|---|---|
| :class:`TurnLifecycle` | which turn is open, and how it will end | has_ended, is_other_turn, attribute_to |
| :class:`SessionContent` | texts, and which part of them is new | prompt, context, text, thinking, delta, snapshot |
| :class:`SessionCalls` | which calls are open, and what they were given | input_of, keep_native, native_of |
| :class:`SessionTools` | one result for each call | call, result |
| :class:`SessionUsage` | what turns spend | usage, usage_record, usage_starts |
| :class:`LatestValues` | values that matter when they change | plan, diff, rate_limits |
| :class:`SessionApprovals` | which approvals are open | ask, settle, has_asked, open_approval |
| :class:`SessionNotices` | what the harness itself reports | notice, compacted |

Their methods are attributes of the assembler, bound once: a delegating method in between would cost a
call for each line. The assembler itself knows what involves several of them: how a session is
announced, and how a turn ends.
"""

from __future__ import annotations

from collections.abc import Callable

from dragoman.harnesses.assembly.approvals import SessionApprovals
from dragoman.harnesses.assembly.calls import SessionCalls
from dragoman.harnesses.assembly.content import SessionContent
from dragoman.harnesses.assembly.facts import KnownFacts
from dragoman.harnesses.assembly.latest import LatestValues
from dragoman.harnesses.assembly.notices import SessionNotices
from dragoman.harnesses.assembly.output import Output, SessionOutput
from dragoman.harnesses.assembly.tools import SessionTools
from dragoman.harnesses.assembly.turns import TurnLifecycle
from dragoman.harnesses.assembly.usage import SessionUsage
from dragoman.model.messages import Outcome, SessionEnded, SessionStarted, TurnEnded, TurnError
from dragoman.model.usage import Usage


class SessionAssembler:
    """Turns the content of one session into messages: nothing twice, nothing lost, every call closed."""

    def __init__(self, out: Output, harness: str, session_id: str | None = None) -> None:
        self._harness = harness
        self._out = SessionOutput(out, session_id)
        self.is_copying = False
        """Whether the lines being read were copied from another session, under whose id they are emitted."""
        self.facts: KnownFacts | None = None
        """What is known of the session; None before anything was reported."""
        self.turns = TurnLifecycle(self._out)
        self.calls = SessionCalls()
        self.spending = SessionUsage(self._out)
        self.latest = LatestValues(self._out, self.turns)
        self._content = SessionContent(self._out, self.turns, self.calls)
        self._tools = SessionTools(self._out, self.turns, self.calls)
        self._approvals = SessionApprovals(self._out)
        self._notices = SessionNotices(self._out)

        self.duplicate = self._out.duplicate
        self.has_ended = self.turns.has_ended
        self.is_other_turn = self.turns.is_other
        self.attribute_to = self.turns.attribute_to
        self.prompt = self._content.prompt
        self.context = self._content.context
        self.text = self._content.text
        self.emit_text = self._content.emit_text
        self.knows_text = self._content.knows_text
        self.repeats_text = self._content.repeats_text
        self.thinking = self._content.thinking
        self.emit_thinking = self._content.emit_thinking
        self.repeats_thought = self._content.repeats_thought
        self.delta = self._content.delta
        self.snapshot = self._content.snapshot
        self.call = self._tools.call
        self.result = self._tools.result
        self.input_of = self.calls.input_of
        self.keep_native = self.calls.keep_native
        self.native_of = self.calls.native_of
        self.usage = self.spending.report
        self.usage_record = self.spending.record
        self.usage_starts = self.spending.start
        self.plan = self.latest.set_plan
        self.diff = self.latest.set_diff
        self.rate_limits = self.latest.set_rate_limits
        self.ask = self._approvals.ask
        self.settle = self._approvals.settle
        self.has_asked = self._approvals.has_asked
        self.open_approval = self._approvals.oldest_open
        self.notice = self._notices.notice
        self.compacted = self._notices.compacted

    # The session.

    @property
    def session_id(self) -> str | None:
        return self._out.session_id

    @session_id.setter
    def session_id(self, session_id: str | None) -> None:
        self._out.session_id = session_id

    @property
    def agent_spoke(self) -> bool:
        """Whether the agent itself, not the user or the harness, has produced anything yet."""
        return self._out.agent_spoke

    @agent_spoke.setter
    def agent_spoke(self, spoke: bool) -> None:
        self._out.agent_spoke = spoke

    @property
    def is_resumed(self) -> bool:
        """Whether the session began before this stream, so that its first total is an old one."""
        return self.spending.is_resumed

    @is_resumed.setter
    def is_resumed(self, is_resumed: bool) -> None:
        self.spending.is_resumed = is_resumed

    @property
    def context_window(self) -> int | None:
        return self.spending.context_window

    @context_window.setter
    def context_window(self, tokens: int | None) -> None:
        self.spending.context_window = tokens

    @property
    def has_facts(self) -> bool:
        """Whether anything is known of the session; as a rule it has then been announced."""
        return self.facts is not None

    is_told = has_facts

    @property
    def cwd(self) -> str | None:
        return self.facts.cwd if self.facts else None

    def begin_session(
        self,
        *,
        version: str | None = None,
        model: str | None = None,
        cwd: str | None = None,
        parent_session_id: str | None = None,
        transport: str | None = None,
        parent_call_id: str | None = None,
    ) -> None:
        """Announce the session: once, and again when a fact changes or becomes known."""
        if self.is_copying:
            self._out.duplicate("session: the one that this was copied from")
            return
        before = self.facts
        facts = KnownFacts(version, model, cwd, parent_session_id, transport, parent_call_id)
        if before is not None:
            facts = before.updated(facts)
        self.facts = facts
        if before is not None and not facts.is_news(before):
            self._out.duplicate("session: announced before")
            return
        self._out.emit(SessionStarted, harness=self._harness, **facts._asdict())

    def forget_facts(self) -> None:
        """Another session follows, of which nothing is known yet."""
        self.facts = None

    def know_facts(
        self,
        *,
        model: str | None = None,
        cwd: str | None = None,
        parent_session_id: str | None = None,
    ) -> bool:
        """Remember facts that another message carries; whether they are news."""
        before = self.facts or KnownFacts()
        # A copied session names its ancestors one by one: the first is the parent.
        parent = before.parent_session_id or parent_session_id
        self.facts = before.updated(KnownFacts(None, model, cwd, parent))
        return self.facts != before

    def end_session(self, reason: str) -> None:
        self._out.emit(SessionEnded, reason=reason)

    # Turns.

    @property
    def turn_id(self) -> str | None:
        """The turn on each message: the open one, unless a line reports about an earlier one."""
        return self._out.turn_id

    @property
    def in_turn(self) -> bool:
        return self.turns.open_turn is not None

    @property
    def open_turn(self) -> str | None:
        """The turn that is under way."""
        return self.turns.open_turn

    @property
    def turn_has_text(self) -> bool:
        return self.turns.has_text

    @property
    def says_ends(self) -> bool:
        """Whether the dialect reports the ends of turns."""
        return self.turns.says_ends

    @says_ends.setter
    def says_ends(self, says: bool) -> None:
        self.turns.says_ends = says

    @property
    def before_turn(self) -> Callable[[], None] | None:
        """Called between two turns: the one before has ended and the next has not started."""
        return self.turns.before_turn

    @before_turn.setter
    def before_turn(self, call: Callable[[], None]) -> None:
        self.turns.before_turn = call

    def begin_turn(self, turn_id: str | None = None) -> None:
        """Open a turn. One that is still open was left behind by its process: it ends first."""
        turns = self.turns
        if turns.open_turn is not None:
            if turn_id == turns.open_turn:
                self._out.duplicate("turn: started before")
                return
            if turns.review.takes_turn():
                self._out.duplicate("turn: the reviewer's own, inside the turn that asked for it")
                return
            self.leave()
        turns.begin(turn_id)

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        """Close the turn, and every call that it leaves open."""
        turns = self.turns
        if turns.open_turn is None:
            self._out.duplicate("turn: ended before")
            return
        self._content.emit_unfinished()
        self._tools.abandon_open()
        if error is not None:
            self._add_error(error)
        error = turns.error
        if error is not None and outcome == "completed":
            outcome = "failed"
        if error is not None and outcome != "failed":
            self._notices.error(error)
        self._out.emit(
            TurnEnded,
            outcome=outcome,
            error=error if outcome == "failed" else None,
            usage=self.spending.counter.take_turn(),
        )
        turns.end()
        self._content.end_turn()
        self._notices.end_turn()
        self.latest.end_turn()

    def leave(self, *, may_go_on: bool = False) -> None:
        """Close a turn that is still open although the stream, or the session, continues without it.

        With ``may_go_on``, close it only if its content shows that it has come to its end: the file may
        be continued, and an end that is emitted cannot be taken back.
        """
        if self.turns.open_turn is None:
            self.turns.emit_review()
            return
        outcome = self.turns.outcome_unsaid(calls_open=self.calls.any_open())
        if outcome is not None or not may_go_on:
            self.end_turn(outcome or "interrupted")

    def fail_turn(self, error: TurnError) -> None:
        """Remember why the turn is going to fail; its end will carry the error."""
        if self.turns.open_turn is None:
            self._notices.error(error)
            return
        self._add_error(error)
        self._out.duplicate("error: the turn's end carries it")

    def _add_error(self, error: TurnError) -> None:
        if (displaced := self.turns.add_error(error)) is not None:
            self._notices.error(displaced)

    def usage_beside(
        self, usage: Usage, *, response_id: str | None = None, model: str | None = None
    ) -> None:
        """What the program has asked the model for its own purposes: it is the session's, and no turn's."""
        turn_id, self._out.turn_id = self._out.turn_id, None
        self.spending.report(None, usage, old=True, response_id=response_id, model=model)
        self._out.turn_id = turn_id

    def spent_so_far(self) -> Usage | None:
        """What the open turn has spent so far; null if none is open, or nothing was reported."""
        return self.spending.counter.so_far() if self.in_turn else None

    # Reviews.

    @property
    def is_reviewing(self) -> bool:
        return self.turns.review.is_open

    def begin_review(self, what: str) -> None:
        """The turn is a review: another agent works, and the same channel may report its content twice."""
        review = self.turns.review
        if review.is_open:
            self._out.duplicate("review: started before")
            return
        if not self.turns.says_ends:
            self.leave()
        self._content.expect_echoes()
        review.begin(what, self._out.stream.line, self._out.stream.at)
        if self.in_turn:
            self.turns.emit_review()

    def end_review(self) -> None:
        """The reviewer is done; its text may still be repeated until the turn ends."""
        self.turns.review.is_open = False
