"""One session, or one sub-agent, as far as it has been read: what all dialects report to.

A file does not say when a turn ends: it ends where the agent came to rest, and what comes next shows that. Output and
server say it (``assistant.idle``). Both come to the same turns, because what begins one is on both sides.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.copilot.plans import TodoTable
from dragoman.model.messages import Outcome, TurnError

HARNESS: Final = "copilot"


class CopilotSession:
    """One session being read."""

    def __init__(self, out: Output, session_id: str | None) -> None:
        self.assembler = SessionAssembler(out, HARNESS, session_id)
        self.todos = TodoTable()
        self.tools: dict[str, tuple[str, str]] = {}
        """The tool of each call without a result, by its own name and by ours."""
        self.streamed: set[str] = set()
        """The calls whose output comes in pieces."""
        self.contexts: set[str] = set()
        """What was put before the model so far."""
        self.responses: set[str] = set()
        """The responses whose tokens were counted."""
        self.was_interrupted = False
        self.has_failed = False
        self._is_resting = False
        """Whether the newest response asked for nothing more."""

    @property
    def session_id(self) -> str | None:
        return self.assembler.session_id

    def begin_turn(self, turn_id: str | None) -> None:
        """Open a turn, named after its prompt. One that is still open has come to its end without a word about it."""
        self.close_turn()
        self.was_interrupted = self.has_failed = self._is_resting = False
        self.assembler.begin_turn(turn_id)

    def ensure_turn(self, turn_id: str | None) -> None:
        """The agent works: without a prompt, a turn begins here."""
        if not self.assembler.in_turn:
            self.begin_turn(turn_id)

    def note_response(self, *, asks_for_tools: bool) -> None:
        """A response came, with or without calls."""
        self._is_resting = not asks_for_tools

    def note_work(self) -> None:
        """The agent goes on."""
        self._is_resting = False

    def fail(self, error: TurnError) -> None:
        self.has_failed = True
        self.assembler.fail_turn(error)

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        self.assembler.end_turn(outcome, error)

    @property
    def has_finished(self) -> bool:
        """Whether the open turn has come to its end, judging by what was reported in it."""
        if self.was_interrupted or self.has_failed:
            return True
        return self._is_resting and not self.assembler.calls.any_open()

    def close_turn(self, *, may_go_on: bool = False) -> None:
        """End the open turn the way its own events show; with ``may_go_on``, only if they do."""
        if not self.assembler.in_turn:
            return
        if self.was_interrupted:
            self.end_turn("interrupted")
        elif self.has_finished:
            self.end_turn("completed")  # or failed, if an error was reported
        elif not may_go_on:
            self.end_turn("interrupted")
