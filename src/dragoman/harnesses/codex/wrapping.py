"""The wrapper that two-way recordings put around each line: ``{"dir", "t", "msg"}``.

A line that was no JSON is a string in there, ``raw`` instead of ``msg``.
"""

from __future__ import annotations

import msgspec

from dragoman.wire.jsonl import UNREADABLE


class _Wrapped(msgspec.Struct, gc=False):
    dir: str
    msg: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    raw: str | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(_Wrapped).decode


def unwrap(line: bytes) -> tuple[bytes, bool | None]:
    """The line itself, and whether the client sent it; None if the recording does not say."""
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
