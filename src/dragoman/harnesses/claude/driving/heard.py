"""The part of a line that the conversation itself needs; the parser reads all of it.

Most lines are pieces of text, and are not decoded here at all.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.harnesses.stream_json.driving.heard import HeardLine, is_plain
from dragoman.wire.jsonl import UNREADABLE, is_too_deep


class ClaudeLine(HeardLine, frozen=True, gc=False):
    """A line of Claude's. Every field is whatever the line has there."""

    command_uuid: Any = None
    state: Any = None
    uuid: Any = None
    isReplay: Any = None
    user_message_uuids: Any = None
    permissionMode: Any = None
    errors: Any = None
    task_id: Any = None
    task_type: Any = None
    tasks: Any = None
    patch: Any = None
    status: Any = None


_decode: Final = msgspec.json.Decoder(ClaudeLine).decode


def hear(line: bytes) -> ClaudeLine | None:
    """The line, unless it is a piece of text or no JSON object."""
    if is_plain(line) or is_too_deep(line):
        return None
    try:
        return _decode(line)
    except UNREADABLE:
        return None
