"""One session of a stream, or one sub-agent in it, as far as it has been read.

The assembler decides what is new. A harness adds what is its own: how it counts tokens, keeps a plan, says that a turn
has come to its end.
"""

from __future__ import annotations

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import Outcome, TurnError


class StreamSession:
    """One session being read."""

    def __init__(self, out: Output, harness: str, session_id: str | None) -> None:
        self.assembler = SessionAssembler(out, harness, session_id)
        self.was_interrupted = False
        """Whether the open turn was interrupted, as far as is known."""
        self.has_failed = False
        """Whether the open turn's newest response was an error of the API."""

    @property
    def session_id(self) -> str | None:
        return self.assembler.session_id

    @property
    def has_finished(self) -> bool:
        """Whether the open turn has come to its end, judging by what was said in it."""
        raise NotImplementedError

    def begin_turn(self, turn_id: str | None = None) -> None:
        """Open a turn, named after its prompt. One that is still open has come to its end without a word about it."""
        self.close_turn()
        self.forget_turn()
        self.was_interrupted = self.has_failed = False
        self.assembler.begin_turn(turn_id)

    def forget_turn(self) -> None:
        """Forget what was kept of the turn before."""

    def ensure_turn(self) -> None:
        if not self.assembler.in_turn:
            self.begin_turn()

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        self.assembler.end_turn(outcome, error)

    def close_turn(self, *, may_go_on: bool = False) -> None:
        """End the open turn the way its own lines say; with ``may_go_on``, only if they do."""
        if not self.assembler.in_turn:
            return
        if self.was_interrupted:
            self.end_turn("interrupted")
        elif self.has_finished:
            self.end_turn("completed")  # or failed, if an error was reported
        elif not may_go_on:
            self.end_turn("interrupted")
