"""Where a chat file must lie for Gemini CLI to find it, and what it needs beside it."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.gemini.history import identify

_CHATS: Final = "tmp/repaired/chats"
_TIME: Final = "2026-01-01T00-00"
"""A name needs a time. Gemini finds a session by the id at the name's end."""


def place(name: str, session_id: str | None) -> str:
    """Return where the chat must lie below the home. Gemini lists a file only by a name of this form."""
    named = identify(name, ())
    if named is not None or session_id is None:
        return f"{_CHATS}/{name.rpartition('/')[2]}"
    return f"{_CHATS}/session-{_TIME}-{session_id[:8]}.jsonl"


def settings(_first_line: bytes) -> dict[str, str]:
    """A home needs no settings to read a session."""
    return {}
