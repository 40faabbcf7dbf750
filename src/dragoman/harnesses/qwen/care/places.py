"""Where a chat must lie for Qwen Code to find it."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.qwen.history import identify

_PROJECT: Final = "projects/-repaired"
"""Qwen looks for a session in the folder of the directory that it runs in; any other is not found by id."""
_UNKNOWN: Final = "unknown"


def place(name: str, session_id: str | None) -> str:
    """Return ``projects/<folder>/chats/<session>.jsonl``, or a sub-agent's file, below the home."""
    file = name.rpartition("/")[2]
    is_agent = file.startswith("agent-")
    if session_id is None:
        return f"{_PROJECT}/chats/{file}"
    if not is_agent:
        return f"{_PROJECT}/chats/{session_id}.jsonl"
    named = identify(name, ())
    parent = named.parent_session_id if named is not None else None
    return f"{_PROJECT}/subagents/{parent or _UNKNOWN}/agent-{session_id}.jsonl"


def settings(_first_line: bytes) -> dict[str, str]:
    """A home needs no settings to read a session."""
    return {}
