"""Prompts that were accepted and are not in their session yet.

A prompt is written down, with its idempotency key, before the agent gets it and before the caller learns
that it was accepted. The note is dropped in the commit that makes the prompt an entry of its session. Whatever
is noted after a crash was accepted and never seen again: :mod:`dragoman.hub.recovery` reports it as failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from dragoman.model.messages import Message, Prompt, TurnEnded
from dragoman.store.live.reading import AcceptedPrompt
from dragoman.store.live.store import LiveStore


class Accepted:
    """The notes, in the store and here."""

    def __init__(self, store: LiveStore) -> None:
        self._store = store
        self._open: dict[str, list[AcceptedPrompt]] = {}
        self._seen: dict[str, set[str]] = {}
        """Turns whose prompt or end was seen while something is noted in their session."""
        self._last = 0
        for note in store.reading.accepted():
            self._open.setdefault(note.session_id, []).append(note)
            self._last = max(self._last, note.number)

    def put(
        self, session_id: str, text: str, images: Sequence[str], *, key: str | None, seq: int
    ) -> AcceptedPrompt:
        """Note a prompt; ``seq`` is the session's newest entry. It is safe once that is stored."""
        self._last += 1
        note = AcceptedPrompt(self._last, session_id, key, None, seq, text, list(images))
        self._open.setdefault(session_id, []).append(note)
        self._store.put_accepted(note, datetime.now(UTC))
        return note

    def name(self, note: AcceptedPrompt, turn_id: str | None) -> None:
        """The agent has taken it up, in this turn, which may be over by now."""
        if turn_id in self._seen.get(note.session_id, ()):
            self.drop(note)
            return
        notes = self._open.get(note.session_id, [])
        for place, each in enumerate(notes):
            if each.number == note.number:
                notes[place] = each._replace(turn_id=turn_id)

    def drop(self, note: AcceptedPrompt) -> None:
        """It is in its session, or was refused."""
        notes = self._open.get(note.session_id, [])
        left = [each for each in notes if each.number != note.number]
        if len(left) == len(notes):
            return
        if left:
            self._open[note.session_id] = left
        else:
            del self._open[note.session_id]
            self._seen.pop(note.session_id, None)
        self._store.drop_accepted(note.number)

    def seen(self, session_id: str, message: Message) -> None:
        """An entry is made of this message, in the same commit."""
        notes = self._open.get(session_id)
        if not notes:
            return
        if isinstance(message, Prompt):
            found = [note for note in notes if is_prompt(note, message)][:1]
        elif isinstance(message, TurnEnded):
            found = [note for note in notes if note.turn_id == message.turn_id is not None]
        else:
            return
        for note in found:
            self.drop(note)
        if not found and message.turn_id is not None:
            self._seen.setdefault(session_id, set()).add(message.turn_id)

    def of(self, session_id: str) -> bool:
        """Whether there is any in this session."""
        return bool(self._open.get(session_id))

    def left(self) -> list[AcceptedPrompt]:
        """All that is noted, oldest first."""
        return sorted(note for notes in self._open.values() for note in notes)


def is_prompt(note: AcceptedPrompt, prompt: Prompt) -> bool:
    """Whether the prompt is the one that was noted. Harnesses may trim it."""
    return note.text.strip() == prompt.text.strip() or (
        note.turn_id is not None and note.turn_id == prompt.turn_id
    )
