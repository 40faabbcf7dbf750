"""Values that are reported again and again, and emitted only when they change."""

from __future__ import annotations

from dragoman.model.messages import PlanStep, RateWindow


class LatestValues:
    """The newest plan, diff and rate limits of one session."""

    __slots__ = ("_diff", "cost", "plan", "windows")

    def __init__(self) -> None:
        self.plan: tuple[list[PlanStep], str | None] | None = None
        self.windows: list[RateWindow] = []
        self.cost: float | None = None
        """What the agent itself reports for the session so far."""
        self._diff: str | None = None

    def changes_plan(self, steps: list[PlanStep], explanation: str | None) -> bool:
        if (steps, explanation) == self.plan:
            return False
        self.plan = (steps, explanation)
        return True

    def changes_diff(self, unified: str) -> bool:
        """An empty diff is a change only after one that was not empty."""
        if unified == self._diff or (not unified and self._diff is None):
            return False
        self._diff = unified
        return True

    def changes_windows(self, windows: list[RateWindow]) -> bool:
        if windows == self.windows:
            return False
        self.windows = windows
        return True

    def end_turn(self) -> None:
        """A diff belongs to its turn: the next turn may have an equal one of its own."""
        self._diff = None
