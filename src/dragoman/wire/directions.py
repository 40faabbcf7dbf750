"""Who sent a line that was recorded: the host or the agent.

A live driver knows. A journal contains it in each line's wrapper, under names that differ: ``send`` and ``recv`` in ours,
``in`` and ``out``, seen from the agent, in others. A plain stream is all the agent's.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from dragoman.wire.jsonl import UNREADABLE

_BY_HOST: Final = frozenset(("send", "sent", "in", ">>", "stdin"))
_BY_AGENT: Final = frozenset(("recv", "received", "out", "<<", "stdout"))
ASIDE: Final = frozenset(("meta", "note"))
"""What a journal contains about itself."""
ERRORS: Final = frozenset(("err", "stderr"))
_BEGINNINGS: Final = (b'{"dir"', b'{ "dir"', b'{"t"', b'{ "t"')


class Wrapped(msgspec.Struct, gc=False):
    """A line of a journal."""

    dir: str
    t: Any = None
    msg: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    raw: str | msgspec.UnsetType = msgspec.UNSET


class Unwrapped(NamedTuple):
    """A line without its wrapper."""

    line: bytes
    sent: bool | None
    """Whether the host sent it; None if unknown."""
    way: str = ""
    """The wrapper's word for who sent it; empty without a wrapper."""


_decode: Final = msgspec.json.Decoder(Wrapped).decode


def unwrap(line: bytes) -> Unwrapped:
    """The line itself, and who sent it."""
    if not line.startswith(_BEGINNINGS):
        return Unwrapped(line, None)
    try:
        wrapped = _decode(line)
    except UNREADABLE:
        return Unwrapped(line, None)
    way = wrapped.dir
    sent = True if way in _BY_HOST else False if way in _BY_AGENT else None
    if isinstance(wrapped.msg, msgspec.Raw):
        inner = bytes(wrapped.msg)
        if inner.startswith(b'"'):  # text that was no JSON
            inner = msgspec.json.decode(inner, type=str).encode()
        return Unwrapped(inner, sent, way)
    if isinstance(wrapped.raw, str):
        return Unwrapped(wrapped.raw.encode(), sent, way)
    return Unwrapped(line, sent, way)
