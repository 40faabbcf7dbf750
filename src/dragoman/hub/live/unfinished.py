"""Pieces whose whole has not come yet: should the turn be cut off, they are all that there is.

Deltas are delivered and not stored, because the whole always follows. Where it cannot follow any more, what
was shown is kept unchanged: at the end of the turn, and where an agent drops what it was saying to take up a
steer and then says something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

import msgspec

from dragoman.model.messages import (
    Delta,
    Message,
    Prompt,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
)

_Key: TypeAlias = tuple[str | None, str, str | None]
_MOST: Final = 1 << 18
"""Characters that are kept of one thing, the last ones."""
_PIECES: Final = 1000


class Unfinished:
    """The unfinished texts of a session and of the agents that work for it."""

    __slots__ = ("_pieces", "_steered")

    def __init__(self) -> None:
        self._pieces: dict[_Key, list[Delta]] = {}
        self._steered: set[_Key] = set()
        """What was being said when a steer was taken up, and may have been dropped for it."""

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
            case Prompt():
                self._steered |= {key for key in self._pieces if key[0] == message.session_id}
            case Text():
                self._drop(message, "text", message.message_id)
            case Thinking():
                self._drop(message, "thinking", None)
            case ToolResult():
                self._drop(message, "output", message.call_id)
            case TurnEnded():
                for key in [key for key in self._pieces if key[0] == message.session_id]:
                    del self._pieces[key]
                self._steered = {key for key in self._steered if key in self._pieces}
            case _:
                pass

    def dropped(self, message: Message) -> list[Message]:
        """What the agent no longer says, now that it says this instead."""
        if not self._steered or not isinstance(message, Delta | Text | Thinking | ToolCall):
            return []
        gone = [key for key in self._steered if _is_over(key, message)]
        found = self._said(key for key in self._pieces if key in gone)
        for key in gone:
            self._steered.discard(key)
            self._pieces.pop(key, None)
        return found

    def _drop(self, message: Message, of: str, message_id: str | None) -> None:
        for key in list(self._pieces):
            if key[:2] == (message.session_id, of) and message_id in (None, key[2]):
                del self._pieces[key]

    def said(self, session_id: str | None) -> list[Message]:
        """The parts received of texts and thoughts that were not finished."""
        return self._said(key for key in self._pieces if key[0] == session_id)

    def _said(self, keys: Iterable[_Key]) -> list[Message]:
        found: list[Message] = []
        for session_id, of, message_id in keys:
            pieces = self._pieces[session_id, of, message_id]
            if of not in ("text", "thinking"):
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


def _is_over(key: _Key, now: Delta | Text | Thinking | ToolCall) -> bool:
    """Whether what was being said under this key cannot go on, now that the agent says this."""
    session_id, of, message_id = key
    if session_id != now.session_id:
        return False
    match now:
        case Delta(of="output"):
            return False
        case Delta():
            return now.of != of or (of == "text" and now.message_id != message_id)
        case Text():
            return of != "text" or now.message_id not in (None, message_id)
        case Thinking():
            return of != "thinking"
        case ToolCall():
            return True


def _joined(pieces: list[Delta]) -> str:
    return "".join(piece.text for piece in pieces)[-_MOST:]
