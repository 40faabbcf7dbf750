"""What the server must do, step by step, to answer a request. No I/O and no clock here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of an HTTP response; with a body, it is the whole of it."""

    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for a while; None is until the agent hangs up."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class HangUp:
    """Close the connection as if it were lost."""


Action: TypeAlias = Head | bytes | Wait | HangUp

EVENTS = {"content-type": "text/event-stream", "cache-control": "no-cache"}
"""The headers of a stream of server-sent events."""


def event(kind: str, data: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return f"event: {kind}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"


def json_head(status: int, body: Any, headers: dict[str, str] | None = None) -> Head:
    """A whole response with a JSON body; bytes are sent as they are."""
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return Head(status, {"content-type": "application/json", **(headers or {})}, content)
