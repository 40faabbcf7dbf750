"""What care needs to know of a transcript's row: its id, the row it follows, and whose it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.wire.jsonl import UNREADABLE, is_too_deep

_NULS: Final = re.compile(rb"\0+")
_BEGINS: Final = re.compile(r'\{"(?:parentUuid|type|isSidechain|uuid)"\s*:')
_PARENT: Final = re.compile(rb'("parentUuid"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|null)')


class CareRow(msgspec.Struct):
    """A row, as far as it matters here."""

    type: Any = None
    uuid: Any = None
    parentUuid: Any = None
    sessionId: Any = None
    agentId: Any = None
    isSidechain: Any = None

    @property
    def id(self) -> str | None:
        """Its id, if it is part of a conversation; bookkeeping is not."""
        return self.uuid if isinstance(self.uuid, str) and self.uuid else None

    @property
    def parent(self) -> str | None:
        """The row it follows; None for one that starts a conversation."""
        return self.parentUuid if isinstance(self.parentUuid, str) and self.parentUuid else None

    @property
    def chain(self) -> str:
        """The conversation it belongs to: the session's own, or a sub-agent's in the same file."""
        if self.isSidechain is not True:
            return ""
        return self.agentId if isinstance(self.agentId, str) else "sidechain"


_decode: Final = msgspec.json.Decoder(CareRow).decode
_objects: Final = json.JSONDecoder()


def read_row(line: bytes) -> CareRow | None:
    """Return the row on a line; None if there is none."""
    if is_too_deep(line):
        return None
    try:
        row = _decode(line)
        line.decode()
    except UNREADABLE:
        return None
    return row


def following(line: bytes, parent: str | None) -> bytes:
    """Return the row with another parent, and otherwise unchanged."""
    value = msgspec.json.encode(parent)
    return _PARENT.sub(lambda found: found[1] + value, line, count=1)


class SavedPiece(NamedTuple):
    """A piece of a damaged line."""

    row: bytes | None
    """The row; None for what cannot be read."""
    raw: bytes


def salvage(line: bytes) -> Iterator[SavedPiece]:
    """Yield the pieces of a damaged line in order: whole rows, and what is between them."""
    for part in _NULS.split(line.rstrip(b"\r\n")):
        if part.strip():
            yield from _rows_in(part.strip())


def _rows_in(part: bytes) -> Iterator[SavedPiece]:
    try:
        text = part.decode()
    except UnicodeDecodeError:
        text = part.decode("utf-8", "replace")
    at = 0
    for found in _BEGINS.finditer(text):
        if found.start() < at:
            continue  # within a row that was found, whose text quotes another one
        try:
            _, end = _objects.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        row = text[found.start() : end].encode()
        if read_row(row) is None:
            continue
        if text[at : found.start()].strip():
            yield SavedPiece(None, text[at : found.start()].encode())
        yield SavedPiece(row, row)
        at = end
    if text[at:].strip():
        yield SavedPiece(None, text[at:].encode())
