"""Pieces whose whole has not come yet: should the turn be cut off, they are all that there is.

Deltas are delivered and not stored, because the whole always follows. Where it cannot follow any more, what
was shown is kept unchanged.
"""

from __future__ import annotations

from typing import Final

import msgspec

from dragoman.model.messages import Delta, Message, Text, Thinking, ToolResult, TurnEnded

_MOST: Final = 1 << 18
"""Characters that are kept of one thing, the last ones."""
_PIECES: Final = 1000


class Unfinished:
    """The unfinished texts of a session and of the agents that work for it."""

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: dict[tuple[str | None, str, str | None], list[Delta]] = {}

    def add(self, delta: Delta) -> None:
        key = delta.session_id, delta.of, delta.message_id
        pieces = self._pieces.setdefault(key, [])
        pieces.append(delta)
        if len(pieces) >= _PIECES:
            pieces[:] = [msgspec.structs.replace(delta, text=_joined(pieces))]

    def whole(self, message: Message) -> None:
        """The message is complete: its deltas are no longer needed."""
        if not self._pieces:
            return
        match message:
            case Text():
                self._drop(message, "text", message.message_id)
            case Thinking():
                self._drop(message, "thinking", None)
            case ToolResult():
                self._drop(message, "output", message.call_id)
            case TurnEnded():
                for key in [key for key in self._pieces if key[0] == message.session_id]:
                    del self._pieces[key]
            case _:
                pass

    def _drop(self, message: Message, of: str, message_id: str | None) -> None:
        for key in list(self._pieces):
            if key[:2] == (message.session_id, of) and message_id in (None, key[2]):
                del self._pieces[key]

    def said(self, session_id: str | None) -> list[Message]:
        """The parts received of texts and thoughts that were not finished."""
        found: list[Message] = []
        for (of_session, of, message_id), pieces in self._pieces.items():
            if of_session != session_id or of not in ("text", "thinking"):
                continue
            turn_id, at, text = pieces[-1].turn_id, pieces[-1].at, _joined(pieces)
            if of == "thinking":
                said = Thinking(session_id=session_id, turn_id=turn_id, at=at, text=text)
            else:
                said = Text(
                    session_id=session_id, turn_id=turn_id, at=at, text=text, message_id=message_id
                )
            if text.strip():
                found.append(said)
        return found

    def output(self, session_id: str | None, call_id: str) -> str:
        """What a call had printed."""
        return _joined(self._pieces.get((session_id, "output", call_id), []))


def _joined(pieces: list[Delta]) -> str:
    return "".join(piece.text for piece in pieces)[-_MOST:]
