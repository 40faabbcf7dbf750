"""Streamed texts and thoughts, for formats in which a part starts, grows and ends.

Deltas may lack the id of their text, some may have been dropped, and the complete text always follows. Its
content decides whether it completes an open part or is a part of its own.
"""

from __future__ import annotations

from typing import NamedTuple


class Piece(NamedTuple):
    """Something to add to a part."""

    part_id: str
    begins: bool
    """Whether this is the first of its part."""
    text: str


class Completed(NamedTuple):
    """The rest of a text after the complete text arrived."""

    piece: Piece
    ends: bool
    """Whether the part ends with it; if not, the part contains more than this text."""
    lost: str | None = None
    """The id of a part that ends incomplete, because some of its deltas were dropped."""


class Spoken:
    """The open parts of one kind. Ids are never reused."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._count = 0
        self._open: dict[str | None, tuple[str, list[str]]] = {}

    def add(self, message_id: str | None, text: str) -> Piece:
        started = self._open.get(message_id)
        if started is not None:
            started[1].append(text)
            return Piece(started[0], begins=False, text=text)
        part_id = self._new_id(message_id)
        self._open[message_id] = part_id, [text]
        return Piece(part_id, begins=True, text=text)

    def complete(self, message_id: str | None, whole: str) -> Completed:
        for each in dict.fromkeys((message_id, *self._open)):
            started = self._open.get(each)
            if started is None:
                continue
            part_id, streamed = started[0], "".join(started[1])
            if whole.startswith(streamed) or whole.strip() == streamed.strip():
                del self._open[each]
                rest = whole[len(streamed) :] if whole.startswith(streamed) else ""
                return Completed(Piece(part_id, begins=False, text=rest), ends=True)
            if streamed.startswith(whole):
                self._open[each] = part_id, [streamed[len(whole) :]]
                return Completed(Piece(part_id, begins=False, text=""), ends=False)
        lost = self._open.pop(message_id, None)
        piece = Piece(self._new_id(message_id), begins=True, text=whole)
        return Completed(piece, ends=True, lost=lost[0] if lost is not None else None)

    def end(self) -> list[str]:
        """The ids of all parts that will not be completed."""
        ended = [part_id for part_id, _ in self._open.values()]
        self._open.clear()
        return ended

    def _new_id(self, message_id: str | None) -> str:
        self._count += 1
        return f"{message_id or self._kind}-{self._count}"
