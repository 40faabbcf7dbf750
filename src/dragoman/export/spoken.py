"""Texts and thoughts that go out piece by piece, for the formats in which a part begins, grows and ends.

Deltas may or may not carry the id of what they belong to, some may have been dropped, and the whole
always follows. What it says decides whether it is the end of a part that has begun, or a part of its own.
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
    """What is left to say of something when the whole of it has come."""

    piece: Piece
    ends: bool
    """Whether its part ends with it; otherwise the part holds more than this whole."""
    lost: str | None = None
    """The id of a part that ends unfinished, since pieces of it were dropped on the way."""


class Spoken:
    """The parts of one kind that have begun and not ended. Ids are never used twice."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._count = 0
        self._open: dict[str | None, tuple[str, list[str]]] = {}

    def add(self, message_id: str | None, text: str) -> Piece:
        begun = self._open.get(message_id)
        if begun is not None:
            begun[1].append(text)
            return Piece(begun[0], begins=False, text=text)
        part_id = self._new_id(message_id)
        self._open[message_id] = part_id, [text]
        return Piece(part_id, begins=True, text=text)

    def complete(self, message_id: str | None, whole: str) -> Completed:
        for each in dict.fromkeys((message_id, *self._open)):
            begun = self._open.get(each)
            if begun is None:
                continue
            part_id, said = begun[0], "".join(begun[1])
            if whole.startswith(said) or whole.strip() == said.strip():
                del self._open[each]
                rest = whole[len(said) :] if whole.startswith(said) else ""
                return Completed(Piece(part_id, begins=False, text=rest), ends=True)
            if said.startswith(whole):
                self._open[each] = part_id, [said[len(whole) :]]
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
