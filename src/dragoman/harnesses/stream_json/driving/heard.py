"""The part of a line that a conversation itself needs; the reader makes messages of all of it."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

_PLAIN: Final = re.compile(rb'\s*\{\s*"type"\s*:\s*"(stream_event|assistant)"')
_REQUEST: Final = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"control_request"\s*,\s*"request_id"\s*:\s*"([^"\\]+)"'
)
_RESPONSE: Final = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"control_response".{0,80}"request_id"\s*:\s*"([^"\\]+)"', re.DOTALL
)


class HeardLine(msgspec.Struct, frozen=True, gc=False):
    """A line of the agent's. Every field is whatever the line has there."""

    type: Any = None
    subtype: Any = None
    session_id: Any = None
    request_id: Any = None
    request: Any = None
    response: Any = None
    model: Any = None


def is_plain(line: bytes) -> bool:
    """Whether the line is a piece of what the agent says, as most are: these need not be decoded here."""
    return _PLAIN.match(line) is not None


def long_request(head: bytes) -> str | None:
    """The id of a control request that was too long to keep, by its beginning."""
    found = _REQUEST.match(head)
    return found[1].decode(errors="replace") if found else None


def long_response(head: bytes) -> str | None:
    """The id of an answer that was too long to keep, by its beginning."""
    found = _RESPONSE.match(head)
    return found[1].decode(errors="replace") if found else None
