"""Telling our own messages from the lines of agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from dragoman.model.messages import MESSAGE_TYPES
from dragoman.wire import jsonl
from dragoman.wire.loose import as_str

_COMMON: Final = frozenset(("type", "session_id", "turn_id", "at", "line"))
"""What every message has, whatever its type, and no line of an agent."""


def sniff(lines: Sequence[bytes]) -> str | None:
    """The dialect, if one of the lines is a message of ours."""
    for line in lines:
        try:
            value: Any = jsonl.loads(bare_line(line))
        except jsonl.NotJson:
            continue
        if isinstance(value, dict):
            given = cast("dict[str, Any]", value)
            if given.keys() >= _COMMON and as_str(given["type"]) in MESSAGE_TYPES:
                return "messages"
    return None


def bare_line(line: bytes) -> bytes:
    """The line without the comma that separates the elements of an array."""
    line = line.strip()
    return line[:-1] if line.endswith(b"},") else line
