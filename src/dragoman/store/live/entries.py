"""Messages of live sessions with their sequence number and time, encoded once for all readers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from dragoman.model.messages import Message, decode, encode

_encode: Final = msgspec.json.Encoder().encode


class SharedMessage:
    """A message delivered to many readers. Each encoding of it is computed once and shared."""

    __slots__ = ("_forms", "_json", "_message", "message_json")

    def __init__(self, message: Message | None, message_json: bytes) -> None:
        self._message = message
        self.message_json = message_json
        """The message as one line of JSON."""
        self._json: bytes | None = None
        self._forms: dict[str, Any] | None = None

    @property
    def message(self) -> Message:
        """The message, decoded on first use if it comes from the store."""
        if self._message is None:
            self._message = decode(self.message_json)
        return self._message

    @property
    def json(self) -> bytes:
        """The whole entry as one line of JSON."""
        if self._json is None:
            self._json = self._whole()
        return self._json

    def once(self, form: str, make: Callable[[Any], Any]) -> Any:
        """Return ``make(self)``, computed once per ``form``: for example a frame of a stream."""
        if self._forms is None:
            self._forms = {}
        if form not in self._forms:
            self._forms[form] = make(self)
        return self._forms[form]

    def _whole(self) -> bytes:
        return self.message_json


class Entry(SharedMessage):
    """A stored message of a session. ``seq`` counts from 1 without gaps."""

    __slots__ = ("at", "connection", "seq", "session_id")

    def __init__(
        self,
        session_id: str,
        seq: int,
        at: datetime,
        message_json: bytes,
        message: Message | None = None,
        connection: int = 0,
    ) -> None:
        super().__init__(message, message_json)
        self.session_id = session_id
        """The live session. The message itself may belong to one of its sub-agents."""
        self.seq = seq
        self.at = at
        """When it was received."""
        self.connection = connection
        """The connection whose lines produced it; 0 for our own messages."""

    def __repr__(self) -> str:
        return f"Entry({self.session_id!r}, {self.seq}, {self.message!r})"

    def _whole(self) -> bytes:
        # Spliced rather than re-encoded: the message is already JSON and may be long.
        return b'{"seq":%d,"at":%b,"message":%b}' % (self.seq, _encode(self.at), self.message_json)


class Transient(SharedMessage):
    """A delta: delivered to current readers, never stored."""

    __slots__ = ("after",)

    def __init__(self, message: Message, after: int = 0) -> None:
        super().__init__(message, encode(message))
        self.after = after
        """The sequence number of the last entry before it."""

    def __repr__(self) -> str:
        return f"Transient({self.message!r})"

    def _whole(self) -> bytes:
        return b'{"message":%b}' % self.message_json


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
