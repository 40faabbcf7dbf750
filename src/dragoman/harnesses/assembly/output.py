"""The output of one stream: its messages, its duplicates, and the line being read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

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


class SessionOutput:
    """The output of one session: adds session, turn, line and time to its messages.

    Shared by everything that assembles the session.
    """

    __slots__ = ("agent_spoke", "session_id", "stream", "turn_id")

    def __init__(self, stream: Output, session_id: str | None) -> None:
        self.stream = stream
        self.session_id = session_id
        self.turn_id: str | None = None
        """The turn on each message: the open one, unless a line reports about an earlier one."""
        self.agent_spoke = False
        """Whether the agent itself, not the user or the harness, has produced anything yet."""

    def emit(self, kind: type[Message], /, **fields: Any) -> None:
        """Append a message of this kind."""
        stream = self.stream
        stream.messages.append(
            kind(
                session_id=self.session_id,
                turn_id=self.turn_id,
                at=stream.at,
                line=stream.line,
                **fields,
            )
        )

    def duplicate(self, reason: str) -> None:
        """Record that the line being read needs no message, and why."""
        self.stream.duplicate(reason)
