"""The part of a line that the conversation itself needs; the parser reads all of it.

Most lines are pieces of text, and are not decoded here at all.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.harnesses.stream_json.driving.heard import HeardLine, is_plain
from dragoman.wire.jsonl import UNREADABLE, is_too_deep


class QwenLine(HeardLine, frozen=True, gc=False):
    """A line of Qwen's. Every field is whatever the line has there."""

    permission_mode: Any = None
    duration_ms: Any = None
    usage: Any = None


_decode: Final = msgspec.json.Decoder(QwenLine).decode


def hear(line: bytes) -> QwenLine | None:
    """The line, unless it is a piece of text or no JSON object."""
    if is_plain(line) or is_too_deep(line):
        return None
    try:
        return _decode(line)
    except UNREADABLE:
        return None
