"""``result``: how a turn ended, and which turn it was.

The result of a turn may come late: while sub-agents work in the background, the next turn begins, and the results
of both follow one another. Whether a turn failed is said by ``is_error``, never by ``subtype``.
"""

from __future__ import annotations

from typing import NamedTuple

from dragoman.harnesses.claude.failures import api_error, limit_error
from dragoman.harnesses.claude.session import ClaudeSession
from dragoman.harnesses.claude.stream.shapes import Result
from dragoman.harnesses.claude.usage import usage_of
from dragoman.harnesses.stream_json.prompts import PromptQueue
from dragoman.harnesses.stream_json.sessions import Sessions
from dragoman.model.messages import Outcome, TurnError
from dragoman.wire.loose import as_dict, as_int, as_list, as_number, as_str

CHANNEL = "result"
_ABORTED = "aborted"


class _Unresolved(NamedTuple):
    turn_id: str
    text: str


class StreamTurns:
    """The turns of the stream's own session, from ``init`` to ``result``."""

    def __init__(self, sessions: Sessions[ClaudeSession], prompts: PromptQueue) -> None:
        self._sessions = sessions
        self._prompts = prompts
        self._unresolved: list[_Unresolved] = []
        """Turns that were overtaken by the next one, whose result is still to come."""
        self.last_text = ""
        self.last_turn: str | None = None

    def begin(self) -> None:
        """The agent begins a turn."""
        session = self._sessions.main
        if session.assembler.in_turn and not self._prompts.is_fresh:
            turn_id = session.hand_over_turn()
            if turn_id is not None:
                self._unresolved.append(_Unresolved(turn_id, self.last_text))
        self._prompts.begin_turn(session)
        self.last_turn = session.assembler.open_turn
        self.last_text = ""

    def go_on(self) -> None:
        """The agent works: if its ``init`` was not seen, a turn may begin here."""
        session = self._sessions.main
        is_next = session.assembler.in_turn and session.has_finished and self._prompts.is_waiting
        if not session.assembler.in_turn or (is_next and not self._prompts.is_fresh):
            self.begin()
        self._prompts.is_fresh = False

    def end(self, line: Result) -> None:
        session = self._sessions.main
        self._prompts.is_fresh = False
        late = self._late(line, in_turn=session.assembler.in_turn)
        if late is not None:
            self._end_late(session, late, line)
        else:
            self._end_open(session, line)

    def _late(self, line: Result, *, in_turn: bool) -> str | None:
        """The turn that the result belongs to, if it is not the open one."""
        if not self._unresolved:
            return None
        text = as_str(line.result) or ""
        matching = next((each for each in self._unresolved if each.text == text), None)
        if matching is None and in_turn and text == self.last_text:
            return None
        found = matching or self._unresolved[0]
        self._unresolved.remove(found)
        return found.turn_id

    def _end_late(self, session: ClaudeSession, turn_id: str, line: Result) -> None:
        assembler = session.assembler
        assembler.attribute_to(turn_id)
        session.spending.settle_parked(turn_id, usage_of(line.usage))
        _report_cost(session, line)
        _, error = outcome_of(line, session)
        if error is not None:
            assembler.notice(CHANNEL, "error", error.message)
        assembler.duplicate("turn: it ended when the next one began")
        assembler.attribute_to(None)

    def _end_open(self, session: ClaudeSession, line: Result) -> None:
        assembler = session.assembler
        if not assembler.has_facts:
            models = as_dict(line.modelUsage)
            assembler.begin_session(model=next(iter(models), None))
        if not assembler.in_turn:
            self._prompts.begin_turn(session)
        outcome, error = outcome_of(line, session)
        text = as_str(line.result) or ""
        is_said = line.local_command is not None or line.structured_output is not None
        if text and outcome == "completed" and not (is_said or assembler.turn_has_text):
            assembler.text(CHANNEL, text)
        session.spending.settle_with(usage_of(line.usage))
        _report_cost(session, line)
        session.end_turn(outcome, error)
        self.last_turn = assembler.turn_id or self.last_turn


def _report_cost(session: ClaudeSession, line: Result) -> None:
    """What the session has cost so far: also what it had cost before it was resumed or forked."""
    facts = session.assembler.facts
    used = as_dict(as_dict(line.modelUsage).get(facts.model if facts and facts.model else ""))
    if (window := as_int(used.get("contextWindow"))) is not None:
        session.assembler.context_window = window
    cost = as_number(line.total_cost_usd)
    if cost:
        session.assembler.usage(None, None, cost=cost)


def outcome_of(line: Result, session: ClaudeSession) -> tuple[Outcome, TurnError | None]:
    """How the turn ended and, if it failed, why."""
    if line.is_error is not True:
        return "completed", None
    reason = as_str(line.terminal_reason) or ""
    was_interrupted = session.was_interrupted or as_list(line.errors) == ["interrupted"]
    if reason.startswith(_ABORTED) or (was_interrupted and not reason):
        return "interrupted", None
    if session.has_failed:
        return "failed", None  # the error was reported before
    text = as_str(line.result)
    if text is not None:
        return "failed", api_error(text, None, line.api_error_status, line.api_error_type)
    name = as_str(line.subtype) or reason or "error"
    return "failed", limit_error(name, line.errors)
