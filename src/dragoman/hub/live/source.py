"""Which process a message came from: the connection that its lines are stored under."""

from __future__ import annotations

from typing import Final


class Source:
    """One connection to one process."""

    __slots__ = ("harness", "number", "steering_lines")

    def __init__(self, number: int, harness: str) -> None:
        self.number = number
        """The connection's number in the store; 0 for messages of our own."""
        self.harness = harness
        self.steering_lines: set[int] = set()
        """Lines that we sent while we were steering: the agent may not have taken them up."""


NO_SOURCE: Final = Source(0, "")
