"""The part of a line that the conversation itself needs; the parser reads all of it.

Most lines are pieces of text, and are not decoded here at all.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from dragoman.wire.jsonl import UNREADABLE, is_too_deep

_PLAIN: Final = re.compile(rb'\s*\{\s*"type"\s*:\s*"(stream_event|assistant)"')
_REQUEST: Final = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"control_request"\s*,\s*"request_id"\s*:\s*"([^"\\]+)"'
)
_RESPONSE: Final = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"control_response".{0,80}"request_id"\s*:\s*"([^"\\]+)"', re.DOTALL
)


class ClaudeLine(msgspec.Struct, frozen=True, gc=False):
    """A line of Claude's. Every field is whatever the line has there."""

    type: Any = None
    subtype: Any = None
    session_id: Any = None
    request_id: Any = None
    request: Any = None
    response: Any = None
    command_uuid: Any = None
    state: Any = None
    uuid: Any = None
    isReplay: Any = None
    user_message_uuids: Any = None
    permissionMode: Any = None
    model: Any = None
    errors: Any = None
    task_id: Any = None
    task_type: Any = None
    tasks: Any = None
    patch: Any = None
    status: Any = None


_decode: Final = msgspec.json.Decoder(ClaudeLine).decode


def hear(line: bytes) -> ClaudeLine | None:
    """The line, unless it is a piece of text or no JSON object."""
    if _PLAIN.match(line) or is_too_deep(line):
        return None
    try:
        return _decode(line)
    except UNREADABLE:
        return None


def long_request(head: bytes) -> str | None:
    """The id of a control request that was too long to keep, by its beginning."""
    found = _REQUEST.match(head)
    return found[1].decode(errors="replace") if found else None


def long_response(head: bytes) -> str | None:
    """The id of an answer that was too long to keep, by its beginning."""
    found = _RESPONSE.match(head)
    return found[1].decode(errors="replace") if found else None
