"""What a stream has given so far, and which line of it is being read."""

from __future__ import annotations

from datetime import datetime

from dragoman.harnesses.contract.reading import Twin
from dragoman.model.messages import Message


class Output:
    """Shared by all sessions of one stream, so that their messages keep one order."""

    __slots__ = ("_twins", "at", "line", "messages")

    def __init__(self, *, audit: bool) -> None:
        self.messages: list[Message] = []
        self.line = 0
        """The number of the line being read."""
        self.at: datetime | None = None
        """The time on that line, if it has one."""
        self._twins: list[Twin] | None = [] if audit else None

    def twin(self, rule: str) -> None:
        """Note that the line being read is spoken for, and by which rule."""
        if self._twins is not None:
            self._twins.append(Twin(self.line, rule))

    def twin_of_line(self, line: int, rule: str) -> None:
        """The same for a line that was held back."""
        if self._twins is not None:
            self._twins.append(Twin(line, rule))

    def take_messages(self) -> list[Message]:
        taken, self.messages = self.messages, []
        return taken

    def take_twins(self) -> list[Twin]:
        if not self._twins:
            return []
        taken, self._twins = self._twins, []
        return taken
