"""Emit values that are reported again and again, whenever they change."""

from __future__ import annotations

from dragoman.harnesses.assembly.output import SessionOutput
from dragoman.harnesses.assembly.turns import TurnLifecycle
from dragoman.model.messages import Diff, Plan, PlanStep, RateLimits, RateWindow


class LatestValues:
    """The newest plan, diff and rate limits of one session."""

    __slots__ = ("_diff", "_out", "_turns", "plan", "windows")

    def __init__(self, out: SessionOutput, turns: TurnLifecycle) -> None:
        self._out = out
        self._turns = turns
        self.plan: tuple[list[PlanStep], str | None] | None = None
        self.windows: list[RateWindow] = []
        self._diff: str | None = None

    def set_plan(self, steps: list[PlanStep], explanation: str | None = None) -> None:
        if (steps, explanation) == self.plan:
            self._out.duplicate("plan: unchanged")
            return
        self.plan = (steps, explanation)
        self._turns.ensure()
        self._out.emit(Plan, steps=steps, explanation=explanation)

    def set_diff(self, unified: str) -> None:
        # An empty diff is a change only after one that was not empty.
        if unified == self._diff or (not unified and self._diff is None):
            self._out.duplicate("diff: unchanged")
            return
        self._diff = unified
        self._out.emit(Diff, unified=unified)

    def set_rate_limits(self, windows: list[RateWindow]) -> None:
        if windows == self.windows:
            self._out.duplicate("rate limits: unchanged")
            return
        self.windows = windows
        self._out.emit(RateLimits, windows=windows)

    def end_turn(self) -> None:
        """A diff belongs to its turn: the next turn may have an equal one of its own."""
        self._diff = None
