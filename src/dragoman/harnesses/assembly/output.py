"""The output of one stream: its messages, its duplicates, and the line being read."""

from __future__ import annotations

from datetime import datetime

from dragoman.harnesses.contract.reading import Duplicate
from dragoman.model.messages import Message


class Output:
    """Shared by all sessions of one stream, so that their messages keep one order."""

    __slots__ = ("_duplicates", "at", "line", "messages")

    def __init__(self, *, audit: bool) -> None:
        self.messages: list[Message] = []
        self.line = 0
        """The number of the line being read."""
        self.at: datetime | None = None
        """The time on that line, if it has one."""
        self._duplicates: list[Duplicate] | None = [] if audit else None

    def duplicate(self, reason: str) -> None:
        """Record that the line being read needs no message, and why."""
        if self._duplicates is not None:
            self._duplicates.append(Duplicate(self.line, reason))

    def duplicate_of_line(self, line: int, reason: str) -> None:
        """The same for a line that was held back."""
        if self._duplicates is not None:
            self._duplicates.append(Duplicate(line, reason))

    def take_messages(self) -> list[Message]:
        taken, self.messages = self.messages, []
        return taken

    def take_duplicates(self) -> list[Duplicate]:
        if not self._duplicates:
            return []
        taken, self._duplicates = self._duplicates, []
        return taken

    # Earlier names, until every parser uses the new ones.
    twin = duplicate
    twin_of_line = duplicate_of_line
    take_twins = take_duplicates
