"""The unfinished texts and outputs of a session, from their beginning, for readers that connect late.

Deltas are delivered and not stored. A reader that connects in the middle of an answer would get only the rest, so
the text so far is kept here until the whole is stored, as far as it has been *delivered*: with what it is given from here and
the deltas that follow, a reader has each piece exactly once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

import msgspec

from dragoman.model.messages import Delta, Message, Plan, Text, Thinking, ToolResult, TurnEnded

MOST: Final = 1 << 18
"""Characters that are kept of one text or output. A text keeps its beginning, an output its end."""
_THINGS: Final = 64
"""Texts and outputs that are kept at once; the oldest make registry."""
_Key: TypeAlias = tuple[str | None, str, str | None]


class SoFar(msgspec.Struct, frozen=True):
    """The text so far of one unfinished message."""

    message: Delta
    """All of it as one delta."""
    is_cut: bool = False
    """Whether it was too long to keep whole."""


class _Pieces:
    __slots__ = ("is_cut", "last", "pieces", "size")

    def __init__(self, first: Delta) -> None:
        self.last = first
        self.pieces: list[str] = []
        self.size = 0
        self.is_cut = False

    def add(self, delta: Delta) -> None:
        self.last = delta
        self.pieces.append(delta.text)
        self.size += len(delta.text)
        # Not with every piece: to join them costs as much as all of them are long.
        if self.size > 2 * MOST:
            self._cut()

    def _cut(self) -> None:
        whole = "".join(self.pieces)
        if len(whole) > MOST:
            whole = whole[-MOST:] if self.last.of == "output" else whole[:MOST]
            self.is_cut = True
        self.pieces, self.size = [whole], len(whole)

    def so_far(self) -> SoFar:
        self._cut()
        return SoFar(msgspec.structs.replace(self.last, text=self.pieces[0]), self.is_cut)


class Partial:
    """Follows what is delivered; :meth:`snapshot` is what a reader that comes now has missed."""

    __slots__ = ("_things",)

    def __init__(self, given: Iterable[SoFar] = ()) -> None:
        self._things: dict[_Key, _Pieces] = {}
        for each in given:
            self.add(each.message)
            self._things[_key(each.message)].is_cut = each.is_cut

    def add(self, delta: Delta) -> None:
        key = _key(delta)
        pieces = self._things.get(key)
        if pieces is None:
            if len(self._things) >= _THINGS:
                del self._things[next(iter(self._things))]
            pieces = self._things[key] = _Pieces(delta)
        pieces.add(delta)

    def whole(self, message: Message) -> None:
        """A message was stored: its partial text is no longer needed."""
        match message:
            case _ if not self._things:
                return
            case Text():
                self._drop(message, "text", message.message_id)
            case Thinking():
                self._drop(message, "thinking", None)
            case Plan():
                self._drop(message, "plan", None)
            case ToolResult():
                self._drop(message, "output", message.call_id)
            case TurnEnded():
                for key in [key for key in self._things if key[0] == message.session_id]:
                    del self._things[key]
            case _:
                return

    def _drop(self, message: Message, of: str, name: str | None) -> None:
        for key in list(self._things):
            # A text without an id of its own is the only one there is.
            if key[:2] == (message.session_id, of) and (name is None or key[2] in (None, name)):
                del self._things[key]

    def snapshot(self) -> list[SoFar]:
        return [each.so_far() for each in self._things.values()]


def _key(delta: Delta) -> _Key:
    return delta.session_id, delta.of, delta.message_id
