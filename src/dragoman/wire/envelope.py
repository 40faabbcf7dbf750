"""The wrapper that two-way recordings put around each line: ``{"dir", "t", "msg"}``.

A line that was not JSON is a string under ``raw`` instead of ``msg``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from dragoman.wire import jsonl
from dragoman.wire.jsonl import UNREADABLE
from dragoman.wire.loose import as_dict

_EARLIEST = 1_000_000_000
"""Smaller numbers are offsets from the start of the recording, not times of day."""


class _Wrapped(msgspec.Struct, gc=False):
    dir: str
    t: float | None = None
    msg: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    raw: str | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(_Wrapped).decode


def unwrap(line: bytes) -> tuple[bytes, bool | None]:
    """The line itself, and whether the client sent it; None if the recording does not show it."""
    if not line.startswith((b'{"dir"', b'{ "dir"')):
        return line, None
    try:
        wrapped = _decode(line)
    except UNREADABLE:
        return line, None
    sent = wrapped.dir in ("send", "sent", "out", ">>")
    if isinstance(wrapped.msg, msgspec.Raw):
        return bytes(wrapped.msg), sent
    return (wrapped.raw.encode(), sent) if isinstance(wrapped.raw, str) else (line, None)


def object_on(line: bytes) -> dict[str, Any]:
    """The JSON object on a line, without its wrapper; empty if there is none. A recording's own first row is kept."""
    try:
        value = as_dict(jsonl.loads(line))
        if "dir" not in value or value["dir"] == "meta":
            return value
        inner = value.get("msg", value.get("raw"))
        return as_dict(jsonl.loads(inner.encode()) if isinstance(inner, str) else inner)
    except jsonl.NotJson:
        return {}


def time_on(line: bytes) -> datetime | None:
    """The time at which a wrapped line was transmitted, if the wrapper has it."""
    if not line.startswith((b'{"dir"', b'{ "dir"')):
        return None
    try:
        t = _decode(line).t
        return datetime.fromtimestamp(t, UTC) if t is not None and t > _EARLIEST else None
    except (*UNREADABLE, OverflowError, ValueError, OSError):
        return None
