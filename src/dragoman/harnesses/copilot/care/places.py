"""Where a session file must lie for Copilot to find it, and what it needs beside it."""

from __future__ import annotations

from typing import Final

_UNNAMED: Final = "00000000-0000-4000-8000-000000000000"


def place(name: str, session_id: str | None) -> str:
    """Return where the file must lie below the home: in a folder with the session's id."""
    return f"session-state/{session_id or _UNNAMED}/events.jsonl"


def settings(_first_line: bytes) -> dict[str, str]:
    """A home needs no settings to read a session."""
    return {}
