"""Collect the turns of a file's own session while it is read, with the number of each first message."""

from __future__ import annotations

from typing import Final

from dragoman.archive.index.digest import kept
from dragoman.model.messages import Message, Prompt, TurnEnded, TurnStarted
from dragoman.rendering.render import one_line
from dragoman.store.files import TurnRow

_TITLE: Final = 120
OF_TURNS: Final = frozenset((TurnStarted, Prompt, TurnEnded))
"""The messages that affect the list."""


class TurnList:
    """Builds rows for turns from messages."""

    def __init__(self, session_id: str | None) -> None:
        self._session_id = session_id
        self._turns: list[TurnRow] = []

    def take(self, message: Message, turn: int, seq: int) -> None:
        """Add a message with its turn and its own number."""
        if message.session_id != self._session_id:
            return
        if isinstance(message, TurnStarted):
            self._turns.append(TurnRow(turn, seq))
        elif not self._turns:
            return
        elif isinstance(message, Prompt) and self._turns[-1].title is None:
            self._turns[-1] = self._turns[-1]._replace(title=kept(one_line(message.text, _TITLE)))
        elif isinstance(message, TurnEnded):
            self._turns[-1] = self._turns[-1]._replace(outcome=message.outcome)

    def drain(self) -> list[TurnRow]:
        """Return the turns since the last call. The last one is kept, because it may still end."""
        turns = self._turns
        self._turns = turns[-1:]
        return turns
