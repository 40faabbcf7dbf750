"""The files that an agent writes while it works, for agents whose files matter to those who drive them. No I/O.

Some write to a session's file what their wire leaves out. The engine then follows the file, and gives each new row to
the conversation as a line of its own, a :class:`WrittenRow`, ahead of the lines that arrive after it. A journal keeps
these lines like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from dragoman.wire.jsonl import UNREADABLE

ROW_BEGINS: Final = b'{"dir":"file",'
"""How the lines begin that hold a row. No protocol has such lines of its own."""


class SessionFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one session, while an agent works in it."""

    pattern: Callable[[Mapping[str, str], str], str]
    """The glob of a session's own files, in this environment."""
    agents: Callable[[str, str], str]
    """The glob of its sub-agents' files, by the path of one of its own and its id."""
    session_in: Callable[[bytes], str | None]
    """The session that a line of the wire opens; None for any other line."""
    resume_pause: Callable[[Sequence[str], float], float]
    """For how many seconds a session with these files cannot be resumed, at this time since 1970."""
    resume_reason: str
    """Why, for people."""


class WrittenRow(NamedTuple):
    """A new row of a session's file."""

    session_id: str
    name: str
    """The name of the file, without its folder."""
    row: bytes


class _RowLine(msgspec.Struct):
    dir: str
    session: str
    name: str
    row: msgspec.Raw


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(_RowLine).decode
_check: Final = msgspec.json.Decoder(msgspec.Raw).decode


def row_line(session_id: str, name: str, row: bytes) -> bytes | None:
    """A row as a line for the conversation; None for one that is no JSON, which is left to the file's own reader."""
    try:
        return _encode(_RowLine("file", session_id, name, _check(row)))
    except UNREADABLE:
        return None


def row_in(line: bytes) -> WrittenRow | None:
    """The row in a line; None for a line of the wire."""
    if not line.startswith(ROW_BEGINS):
        return None
    try:
        wrapped = _decode(line)
    except UNREADABLE:
        return None
    return WrittenRow(wrapped.session, wrapped.name, bytes(wrapped.row))
