"""Prompts that no person wrote."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.claude.transcript.shapes import User
from dragoman.wire.loose import as_dict, as_str

_NOTIFICATION: Final = "<task-notification>"


def is_from_program(row: User, text: str) -> bool:
    """Whether no person wrote this, though it begins a turn."""
    origin = as_str(as_dict(row.origin).get("kind"))
    return (
        row.promptSource == "system"
        or origin == "task-notification"
        or text.startswith(_NOTIFICATION)
    )
