"""Assemble one session, from the first line that mentions it to the last.

Each method takes one kind of content that a line can report, and either appends a message to the output
or records the line as a duplicate. Content that may arrive over several channels takes the channel's
name. What is new, open or changed is decided by collaborators, one idea each:

| collaborator | decides |
|---|---|
| :class:`TurnLifecycle` | which turn is open, and how it ends |
| :class:`SessionCalls` | which calls are open, and what they have put out |
| :class:`Deduplicator` | whether another channel has reported this before |
| :class:`DeltaStreams`, :class:`Snapshots` | which part of a piece is new |
| :class:`TokenCounter` | what a turn has spent |
| :class:`LatestValues` | whether a plan, diff or rate limit has changed |
| :class:`AskedApprovals` | which approvals are open |
| :class:`ReviewState` | whether another agent is reviewing |

The methods that most lines of a long session end in construct their message directly, which is faster
than going through ``_emit``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dragoman.harnesses.assembly.approvals import AskedApprovals
from dragoman.harnesses.assembly.calls import SessionCalls
from dragoman.harnesses.assembly.duplicates import Deduplicator
from dragoman.harnesses.assembly.facts import KnownFacts
from dragoman.harnesses.assembly.latest import LatestValues
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.assembly.reviews import ReviewState
from dragoman.harnesses.assembly.streams import DeltaStreams, Snapshots
from dragoman.harnesses.assembly.tokens import TokenCounter
from dragoman.harnesses.assembly.turns import TurnLifecycle
from dragoman.model.messages import (
    AlwaysAllow,
    ApprovalKind,
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    DeltaOf,
    Diff,
    Level,
    Message,
    Notice,
    Outcome,
    Phase,
    Plan,
    PlanStep,
    Prompt,
    RateLimits,
    RateWindow,
    ResultStatus,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage


class SessionAssembler:
    """Turns the content of one session into messages: nothing twice, nothing lost, every call closed."""

    def __init__(self, out: Output, harness: str, session_id: str | None = None) -> None:
        self._out = out
        self._harness = harness
        self.session_id = session_id
        self.turn_id: str | None = None
        """The turn on each message: the open one, unless a line reports about an earlier one."""
        self.is_copying = False
        """Whether the lines being read were copied from another session, under whose id they are emitted."""
        self.is_resumed = False
        """Whether the session began before this stream, so that its first total is an old one."""
        self.agent_spoke = False
        """Whether the agent itself, not the user or the harness, has produced anything yet."""
        self.context_window: int | None = None
        self.before_turn: Callable[[], None] | None = None
        """Called between two turns: the one before has ended and the next has not begun."""
        self.facts: KnownFacts | None = None
        """What is known of the session; None before anything was reported."""
        self.turns = TurnLifecycle()
        self.calls = SessionCalls()
        self.tokens = TokenCounter()
        self.latest = LatestValues()
        self._approvals = AskedApprovals()
        self._review = ReviewState()
        self._prompts = Deduplicator()
        self._texts = Deduplicator()
        self._thoughts = Deduplicator()
        self._notices = Deduplicator()
        self._compactions = Deduplicator()
        self._streams = DeltaStreams()
        self._snapshots = Snapshots()

    def _emit(self, kind: type[Message], /, **fields: Any) -> None:
        """Append a message of this kind, with the place and time of its line."""
        out = self._out
        out.messages.append(
            kind(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                **fields,
            )
        )

    def duplicate(self, reason: str) -> None:
        """Record that the line being read needs no message, and why."""
        self._out.duplicate(reason)

    # The session.

    @property
    def has_facts(self) -> bool:
        """Whether anything is known of the session; as a rule it has then been announced."""
        return self.facts is not None

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
        self._emit(SessionStarted, harness=self._harness, **facts._asdict())

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
        self._emit(SessionEnded, reason=reason)

    # Turns.

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
        return self.turns.says_ends

    @says_ends.setter
    def says_ends(self, says: bool) -> None:
        self.turns.says_ends = says

    def begin_turn(self, turn_id: str | None = None) -> None:
        """Open a turn. One that is still open was left behind by its process: it ends first."""
        turns = self.turns
        if turns.open_turn is not None:
            if turn_id == turns.open_turn:
                self._out.duplicate("turn: begun before")
                return
            if self._review.takes_turn():
                self._out.duplicate("turn: the reviewer's own, inside the turn that asked for it")
                return
            self.leave()
        if self.before_turn is not None:
            self.before_turn()
        self.turn_id = turns.begin(turn_id)
        self._emit(TurnStarted)
        self._emit_review()

    def _ensure_turn(self) -> None:
        """Content outside a turn opens one, unless it is about a turn that has ended."""
        if self.turns.open_turn is None and not self.turns.is_late:
            self.begin_turn()

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        """Close the turn, and every call that it leaves open."""
        turns = self.turns
        if turns.open_turn is None:
            self._out.duplicate("turn: ended before")
            return
        self._emit_unfinished()
        for call_id, output in self.calls.abandon_open():
            self._emit(
                ToolResult, call_id=call_id, output=output, is_error=True, status="abandoned"
            )
        if error is not None:
            self._add_error(error)
        error = turns.error
        if error is not None and outcome == "completed":
            outcome = "failed"
        if error is not None and outcome != "failed":
            self._emit_error(error)
        self._emit(
            TurnEnded,
            outcome=outcome,
            error=error if outcome == "failed" else None,
            usage=self.tokens.take_turn(),
        )
        turns.end()
        self.turn_id = None
        # Agents repeat themselves from turn to turn, and mean it: nothing is compared across turns.
        for seen in (self._prompts, self._texts, self._thoughts, self._notices, self._compactions):
            seen.clear()
        self._streams.clear()
        self.latest.end_turn()
        self._review.end_turn()

    def _emit_unfinished(self) -> None:
        """Emit texts and thoughts that began in the turn and never arrived in their final form."""
        for message_id, (of, text) in self._snapshots.take().items():
            if of == "text":
                self.text("unfinished", text, message_id=message_id)
            elif of == "thinking":
                self.thinking("unfinished", [text], message_id)

    def leave(self, *, may_go_on: bool = False) -> None:
        """Close a turn that is still open although the stream, or the session, goes on without it.

        With ``may_go_on``, close it only if its content shows that it has come to its end: the file may
        be continued, and an end that is emitted cannot be taken back.
        """
        if self.turns.open_turn is None:
            self._emit_review()
            return
        outcome = self.turns.outcome_unsaid(calls_open=self.calls.any_open())
        if outcome is not None or not may_go_on:
            self.end_turn(outcome or "interrupted")

    def fail_turn(self, error: TurnError) -> None:
        """Remember why the turn is going to fail; its end will carry the error."""
        if self.turns.open_turn is None:
            self._emit_error(error)
            return
        self._add_error(error)
        self._out.duplicate("error: the turn's end carries it")

    def _add_error(self, error: TurnError) -> None:
        if (displaced := self.turns.add_error(error)) is not None:
            self._emit_error(displaced)

    def _emit_error(self, error: TurnError) -> None:
        text = "\n".join(filter(None, (error.message, error.details)))
        self._emit(Notice, level="error", text=text)

    def has_ended(self, turn_id: str) -> bool:
        return self.turns.has_ended(turn_id)

    def is_other_turn(self, turn_id: str | None) -> bool:
        """Whether this names a turn other than the open one."""
        return self.turns.is_other(turn_id)

    def attribute_to(self, turn_id: str | None) -> None:
        """What follows is about this turn. A turn that has ended is not opened again."""
        self.turn_id = self.turns.attribute(turn_id)

    # Reviews.

    @property
    def is_reviewing(self) -> bool:
        return self._review.is_open

    def begin_review(self, what: str) -> None:
        """The turn is a review: another agent works, and the same channel may report its content twice."""
        if self._review.is_open:
            self._out.duplicate("review: begun before")
            return
        if not self.turns.says_ends:
            self.leave()
        for seen in (self._prompts, self._texts, self._thoughts):
            seen.echoes = True
        self._review.begin(what, self._out.line, self._out.at)
        if self.turns.open_turn is not None:
            self._emit_review()

    def end_review(self) -> None:
        """The reviewer is done; what it said may still be repeated until the turn ends."""
        self._review.is_open = False

    def _emit_review(self) -> None:
        """Emit that a review began, under the line that reported it: its turn may begin after that."""
        notice = self._review.take_notice()
        if notice is not None:
            out, now = self._out, (self._out.line, self._out.at)
            out.line, out.at = notice.line, notice.at
            self._emit(Notice, level="info", text=notice.text)
            out.line, out.at = now

    # Prompts, context, texts and thoughts.

    def prompt(
        self, channel: str, text: str, images: list[str] | None = None, item_id: str | None = None
    ) -> None:
        if self._prompts.repeats(channel, text, item_id):
            self._out.duplicate("prompt: emitted before")
            return
        self._ensure_turn()
        self.turns.text_was_last = False
        self._emit(Prompt, text=text, images=images or [])

    def context(self, role: str, text: str) -> None:
        out = self._out
        out.messages.append(
            Context(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                role=role,
                text=text,
            )
        )

    def text(
        self,
        channel: str,
        text: str,
        *,
        phase: Phase | None = None,
        message_id: str | None = None,
        item_id: str | None = None,
    ) -> None:
        """A text. Where several texts share a ``message_id``, ``item_id`` names this one."""
        if not text:
            self._out.duplicate("text: empty")
            return
        self._snapshots.complete(message_id)
        if self._texts.repeats(channel, text, item_id or message_id):
            self.turns.text_was_last = True
            self._out.duplicate("text: emitted before")
            return
        self._streams.complete("text", message_id)
        self.emit_text(text, phase, message_id, item_id)

    def emit_text(
        self, text: str, phase: Phase | None, message_id: str | None, item_id: str | None = None
    ) -> None:
        """Emit a text that no other channel can have reported."""
        turns = self.turns
        if turns.open_turn is None:
            self._ensure_turn()
        turns.text_was_last = turns.has_text = self.agent_spoke = True
        out = self._out
        out.messages.append(
            Text(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                text=text,
                phase=phase,
                message_id=message_id,
                item_id=item_id,
            )
        )

    def knows_text(self, channel: str, text: str, message_id: str | None) -> bool:
        """Whether this text would repeat one that another channel has reported."""
        return self._texts.knows(channel, text, message_id)

    def repeats_text(self, message_id: str) -> bool:
        """Whether a text with this id was emitted; if so, the line is recorded as its duplicate."""
        if not self._texts.has_id(message_id):
            return False
        self.turns.text_was_last = True
        self._out.duplicate("text: emitted before")
        return True

    def repeats_thought(self, item_id: str) -> bool:
        """Whether a thought with this id was emitted; if so, the line is recorded as its duplicate."""
        if not self._thoughts.has_id(item_id):
            return False
        self._out.duplicate("thinking: emitted before, or not shown")
        return True

    def thinking(self, channel: str, parts: list[str], item_id: str | None = None) -> None:
        """Reasoning, one message for each part; parts that another channel has reported are dropped."""
        thoughts = self._thoughts
        self._snapshots.complete(item_id)
        if item_id is None or thoughts.is_new_id(item_id):
            parts = [part for part in parts if part and thoughts.is_new(channel, part)]
        else:
            # Channels split one thought into different parts: under a known id only parts count that
            # do not appear in what was emitted, however it was split.
            parts = [part for part in parts if part and not thoughts.was_emitted_in_parts(part)]
            for part in parts:
                thoughts.is_new(channel, part)
        if not parts:
            self._out.duplicate("thinking: emitted before, or not shown")
            return
        self._streams.complete("thinking", item_id)
        self.emit_thinking(parts, item_id)

    def emit_thinking(self, parts: list[str], item_id: str | None = None) -> None:
        """Emit thoughts that no other channel can have reported."""
        if self.turns.open_turn is None:
            self._ensure_turn()
        self.turns.text_was_last = False
        self.agent_spoke = True
        out = self._out
        for part in parts:
            out.messages.append(
                Thinking(
                    session_id=self.session_id,
                    turn_id=self.turn_id,
                    at=out.at,
                    line=out.line,
                    text=part,
                    item_id=item_id,
                )
            )

    # Pieces of content that is still growing.

    def delta(
        self, channel: str, of: DeltaOf, text: str, message_id: str | None = None, part: str = ""
    ) -> None:
        """A piece of something that is still growing.

        A channel that does not name the message means the one that another channel named last.
        ``part`` keeps apart what streams side by side under one id.
        """
        message_id = self._streams.message_of(of, message_id)
        news = self._streams.fresh(channel, f"{message_id or of}{part}", text)
        if not news:
            self._out.duplicate("delta: emitted before")
            return
        self.agent_spoke = True
        if of == "output" and message_id is not None:
            self.calls.add_output(message_id, news)
        out = self._out
        out.messages.append(
            Delta(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                of=of,
                message_id=message_id,
                text=news,
            )
        )

    def snapshot(self, channel: str, of: DeltaOf, text: str, message_id: str) -> None:
        """Something that is still growing, as it stands now. What is new of it is a delta."""
        before = (
            self.calls.output_of(message_id)
            if of == "output"
            else self._snapshots.update(message_id, of, text)
        )
        if text.startswith(before):
            self.delta(channel, of, text[len(before) :], message_id)
        else:  # it was rewritten, not continued: earlier deltas have what it said before
            self._streams.forget(message_id)
            self.delta(channel, of, text, message_id)

    # Tools.

    def call(self, call_id: str, tool: str, native_tool: str, input: dict[str, Any]) -> None:
        if not self.calls.opens(call_id, input):
            self._out.duplicate("tool call: emitted before")
            return
        if self.turns.open_turn is None:
            self._ensure_turn()
        self.turns.text_was_last = False
        self.agent_spoke = True
        out = self._out
        out.messages.append(
            ToolCall(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                call_id=call_id,
                tool=tool,
                native_tool=native_tool,
                input=input,
            )
        )

    def input_of(self, call_id: str) -> dict[str, Any]:
        """The input of a call that is still open."""
        return self.calls.input_of(call_id)

    def keep_native(self, call_id: str, **facts: Any) -> None:
        """The harness's own form of an open call: an approval must show it unchanged."""
        self.calls.keep_native(call_id, facts)

    def native_of(self, call_id: str) -> dict[str, Any]:
        return self.calls.native_of(call_id)

    def result(
        self,
        call_id: str,
        output: str = "",
        *,
        is_error: bool = False,
        exit_code: int | None = None,
        duration_ms: int | None = None,
        status: ResultStatus | None = None,
    ) -> None:
        calls = self.calls
        if not (calls.abandons if status == "abandoned" else calls.closes)(call_id):
            self._out.duplicate("tool result: emitted before")
            return
        streamed = calls.release(call_id)
        out = self._out
        out.messages.append(
            ToolResult(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                call_id=call_id,
                output=output or streamed,
                is_error=is_error,
                exit_code=exit_code,
                duration_ms=duration_ms,
                status=status or ("failed" if is_error else "completed"),
            )
        )

    # Plans and diffs.

    def plan(self, steps: list[PlanStep], explanation: str | None = None) -> None:
        if not self.latest.changes_plan(steps, explanation):
            self._out.duplicate("plan: unchanged")
            return
        self._ensure_turn()
        self._emit(Plan, steps=steps, explanation=explanation)

    def diff(self, unified: str) -> None:
        if not self.latest.changes_diff(unified):
            self._out.duplicate("diff: unchanged")
            return
        self._emit(Diff, unified=unified)

    # Tokens and limits.

    def usage(
        self,
        total: Usage | None,
        last: Usage | None,
        window: int | None = None,
        *,
        old: bool = False,
        response_id: str | None = None,
        model: str | None = None,
        cost: float | None = None,
    ) -> None:
        """Tokens: the session's running total and those of the newest response, as far as reported.

        ``cost`` is what the agent itself reports for the session so far.
        """
        if window is None:
            window = self.context_window
        else:
            self.context_window = window
        if self.is_resumed and self.tokens.total is None and not self.agent_spoke:
            old = True
        is_new = self.tokens.count(total, last, old=old)
        if cost is not None and cost != self.latest.cost:
            self.latest.cost = cost
            is_new = True
        if not is_new:
            self._out.duplicate("usage: unchanged")
            return
        self._emit_usage(last, window, response_id, model, cost)

    def usage_record(
        self, total: Usage | None, own: Usage, *, response_id: str | None = None
    ) -> None:
        """The tokens of one response, in a record of its own that is never repeated."""
        self.tokens.record(total, own)
        self._emit_usage(own, self.context_window, response_id)

    def _emit_usage(
        self,
        last: Usage | None,
        window: int | None,
        response_id: str | None,
        model: str | None = None,
        cost: float | None = None,
    ) -> None:
        out = self._out
        out.messages.append(
            UsageReport(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=out.at,
                line=out.line,
                total=self.tokens.total,
                last=last,
                context_window=window,
                response_id=response_id,
                model=model,
                cost=cost,
            )
        )

    def usage_starts(self) -> None:
        """The harness has counted nothing yet: the next total is entirely this session's own."""
        self.tokens.start()
        self._out.duplicate("usage: nothing counted yet")

    def spent_so_far(self) -> Usage | None:
        """What the open turn has spent so far; null if none is open, or nothing was reported."""
        return self.tokens.so_far() if self.turns.open_turn is not None else None

    def rate_limits(self, windows: list[RateWindow]) -> None:
        if not self.latest.changes_windows(windows):
            self._out.duplicate("rate limits: unchanged")
            return
        self._emit(RateLimits, windows=windows)

    # Approvals, and what the harness itself reports.

    def ask(
        self,
        approval_id: str,
        kind: ApprovalKind,
        *,
        tool: str | None,
        summary: str,
        detail: dict[str, Any],
        choices: list[str],
        command: str | None = None,
        argv: list[str] | None = None,
        shell: str | None = None,
        cwd: str | None = None,
        always: AlwaysAllow | None = None,
        form: dict[str, Any] | None = None,
        url: str | None = None,
    ) -> None:
        """The agent asks for an approval."""
        if not self._approvals.opens(approval_id):
            self._out.duplicate("approval: requested before")
            return
        self._emit(
            ApprovalRequested,
            approval_id=approval_id,
            kind=kind,
            tool=tool,
            summary=summary,
            detail=detail,
            choices=choices,
            command=command,
            argv=argv,
            shell=shell,
            cwd=cwd,
            always=always,
            form=form,
            url=url,
        )

    def has_asked(self, approval_id: str) -> bool:
        return self._approvals.has_asked(approval_id)

    def open_approval(self) -> str | None:
        """The oldest approval that is still open."""
        return self._approvals.oldest_open()

    def settle(self, approval_id: str, decision: str) -> None:
        if not self._approvals.settles(approval_id):
            self._out.duplicate("approval: settled before")
            return
        self._emit(ApprovalSettled, approval_id=approval_id, decision=decision)

    def notice(
        self,
        channel: str,
        level: Level,
        text: str,
        *,
        will_retry: bool = False,
        undone_turns: int = 0,
    ) -> None:
        if not self._notices.is_new(channel, text):
            self._out.duplicate("notice: emitted before")
            return
        self._emit(Notice, level=level, text=text, will_retry=will_retry, undone_turns=undone_turns)

    def compacted(self, channel: str, summary: str | None = None) -> None:
        if not self._compactions.is_new(channel, ""):
            self._out.duplicate("compaction: emitted before")
            return
        self._emit(Compacted, summary=summary)

    # Earlier names, until every parser uses the new ones.
    twin = duplicate
    is_told = has_facts
    speak_of = attribute_to
    say_text = emit_text
    say_thinking = emit_thinking
    so_far = snapshot


Teller = SessionAssembler
"""The earlier name, until every parser uses the new one."""
