"""The newest rate limits in the last bytes of a rollout, without its parser: it takes longer to import than to read."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from dragoman.harnesses.codex.values.rate_limits import windows_in
from dragoman.model.messages import RateLimits
from dragoman.wire.jsonl import UNREADABLE

_MARK: Final = b'"rate_limits":'


class _Count(msgspec.Struct, tag_field="type", tag="token_count"):
    rate_limits: msgspec.Raw = msgspec.Raw(b"null")


class _CountRow(msgspec.Struct, tag_field="type", tag="event_msg"):
    payload: _Count
    timestamp: datetime | None = None


_decode = msgspec.json.Decoder(_CountRow).decode


def newest_limits(data: bytes) -> RateLimits | None:
    """The limits of the last row that has any. The first row may be cut, and the last one incomplete."""
    at = data.rfind(_MARK)
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        limits = _in_row(data[begin : end if end >= 0 else len(data)])
        if limits is not None:
            return limits
        at = data.rfind(_MARK, 0, begin)
    return None


def _in_row(line: bytes) -> RateLimits | None:
    try:
        row = _decode(line)
        windows = windows_in(bytes(row.payload.rate_limits), row.timestamp)
    except UNREADABLE:
        return None  # of another type, quoted in a text, or damaged
    return RateLimits(at=row.timestamp, windows=windows) if windows else None
