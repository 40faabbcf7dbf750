"""The wrapper that two-way recordings put around each line: ``{"dir", "t", "msg"}``."""

from __future__ import annotations

import msgspec

from dragoman.wire.jsonl import UNREADABLE


class _Wrapped(msgspec.Struct, gc=False):
    dir: str
    msg: msgspec.Raw


_decode = msgspec.json.Decoder(_Wrapped).decode


def unwrap(line: bytes) -> tuple[bytes, bool | None]:
    """The line itself, and whether the client sent it; None if the recording does not say."""
    if not line.startswith((b'{"dir"', b'{ "dir"')):
        return line, None
    try:
        wrapped = _decode(line)
    except UNREADABLE:
        return line, None
    return bytes(wrapped.msg), wrapped.dir in ("send", "sent", "out", ">>")
