"""Where a transcript must lie for Claude Code to find it."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.claude.history import identify

_PROJECT: Final = "projects/-repaired"
"""Claude looks for a session in the folder of the directory that it runs in; any other is not found by id."""


def place(name: str, session_id: str | None) -> str:
    """Return ``projects/<folder>/<session>.jsonl``, or a sub-agent's file, below the home."""
    named = identify(name, ())
    if session_id is None:
        return f"{_PROJECT}/{name}"
    is_agent = named.kind == "sub-agent" if named is not None else not _is_uuid(session_id)
    return f"{_PROJECT}/agent-{session_id}.jsonl" if is_agent else f"{_PROJECT}/{session_id}.jsonl"


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4


def settings(_first_line: bytes) -> dict[str, str]:
    """A home needs no settings to read a session."""
    return {}
