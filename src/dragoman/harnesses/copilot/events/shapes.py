"""The envelope of every event. What is in it depends on its type, and is read by type."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import msgspec

from dragoman.wire.loose import as_str
from dragoman.wire.moments import as_time


class Event(msgspec.Struct, gc=False):
    """One event. ``agentId`` names the sub-agent that it is about."""

    type: str
    data: dict[str, Any]
    id: str | None = None
    timestamp: Any = None
    ephemeral: bool | None = None
    agentId: str | None = None

    @property
    def at(self) -> datetime | None:
        return as_time(self.timestamp)

    @property
    def agent(self) -> str | None:
        """The sub-agent it is about, or the call that started it: older releases name only that."""
        return self.agentId or as_str(self.data.get("parentToolCallId"))


class Result(msgspec.Struct, gc=False):
    """The last line of the output, which is no event."""

    type: str
    sessionId: Any
    exitCode: Any = None
    timestamp: Any = None
    usage: Any = None


decode_event: Final = msgspec.json.Decoder(Event).decode
decode_result: Final = msgspec.json.Decoder(Result).decode
