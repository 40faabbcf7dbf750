"""One session, or one sub-agent, as far as it has been read: what both dialects report to.

The assembler decides what is new. What is Claude's own is kept beside it: tokens by response, the plan behind the
task tools, how far a turn has come.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.claude.plans import TaskPlan
from dragoman.harnesses.claude.spending import Spending
from dragoman.harnesses.stream_json.session import StreamSession
from dragoman.model.messages import Outcome, TurnError

HARNESS: Final = "claude"
SYNTHETIC: Final = "<synthetic>"
"""The model of messages that the program wrote itself."""
_LAST_WORDS: Final = frozenset(("end_turn", "stop_sequence", "max_tokens", "refusal"))


class ClaudeSession(StreamSession):
    """One session being read."""

    def __init__(self, out: Output, session_id: str | None) -> None:
        super().__init__(out, HARNESS, session_id)
        self.plan = TaskPlan(self.assembler)
        self.spending = Spending(self.assembler)
        self.stop_reason: str | None = None
        """Why the newest response ended."""
        self.lacks_reason = False
        """Whether the newest response does not say why it ended: releases before 2.1 never do."""
        self.tools: dict[str, str] = {}
        """The native tool of each call that has no result yet."""
        self._blocks: dict[str, int] = {}
        """How many blocks of each response were read."""

    def forget_turn(self) -> None:
        self.spending.begin_turn()
        self.stop_reason = None
        self.lacks_reason = False
        self._blocks.clear()

    def end_turn(self, outcome: Outcome, error: TurnError | None = None) -> None:
        self.spending.settle()
        super().end_turn(outcome, error)

    def hand_over_turn(self) -> str | None:
        """End the open turn without its result, which comes later; its id."""
        turn_id = self.assembler.open_turn
        if turn_id is not None:
            self.spending.park(turn_id)
            self.assembler.end_turn("interrupted" if self.was_interrupted else "completed")
        return turn_id

    @property
    def has_finished(self) -> bool:
        """Whether the open turn has come to its end, judging by what was said in it."""
        if self.assembler.calls.any_open():
            return False
        if self.lacks_reason:  # then a text is the last word, and a thought or a call is not
            return self.assembler.turns.text_was_last
        return self.has_failed or self.was_interrupted or self.stop_reason in _LAST_WORDS

    def next_block(self, response_id: str | None, index: int | None = None) -> str | None:
        """The id of the next block of a response: its place in it."""
        if response_id is None:
            return None
        place = self._blocks.get(response_id, 0) if index is None else index
        self._blocks[response_id] = place + 1
        return f"{response_id}/{place}"
