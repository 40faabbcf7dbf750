"""When an agent that died is started again: after 1, 2, 4, 8, 16, 30 seconds, and not for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["stopped", "starting", "running", "restarting", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """How often, and how soon."""

    at_most: int = 6
    """Starts in a row that fail, or do not last, before it is given up; 0 for no restart at all."""
    pauses: tuple[float, ...] = (1, 2, 4, 8, 16, 30)
    lasts_after: float = 60.0
    """A process that runs this many seconds resets the count."""

    def pause(self, failures: int) -> float | None:
        """Seconds to wait after so many failures in a row; None when it is given up."""
        if failures > self.at_most:
            return None
        return self.pauses[min(failures, len(self.pauses)) - 1]


class Tries:
    """Counts how often an agent was lost, or could not be started, in a row. The caller has the clock."""

    def __init__(self, restarts: Restarts, now: float) -> None:
        self._restarts = restarts
        self._began_at: float | None = now
        self.failures = 0

    def began(self, now: float) -> None:
        """It runs."""
        self._began_at = now

    def failed(self, now: float) -> float | None:
        """It is lost, or could not be started: seconds to wait; None when it is given up."""
        if self._began_at is not None and now - self._began_at > self._restarts.lasts_after:
            self.failures = 0
        # What counts is how long it ran, not how long we have been trying since.
        self._began_at = None
        self.failures += 1
        return self._restarts.pause(self.failures)
