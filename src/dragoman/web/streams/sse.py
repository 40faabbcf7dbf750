"""Encodes server-sent events. Each is encoded once and sent to all readers."""

from __future__ import annotations

import re
from typing import Final

HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # keeps proxies from buffering the stream
}
HEARTBEAT: Final = b":\n\n"
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


def frame(data: bytes, *, event: str | None = None, event_id: int | None = None) -> bytes:
    """One event with one line of data, such as JSON."""
    head = b"id: %d\n" % event_id if event_id is not None else b""
    kind = b"event: %b\n" % event.encode() if event is not None else b""
    return b"%b%bdata: %b\n\n" % (head, kind, data)


def text_frame(data: bytes, *, event_id: int | None = None) -> bytes:
    """One event with any number of data lines."""
    lines = _LINE_END.split(data.removesuffix(b"\n"))
    head = b"id: %d\n" % event_id if event_id is not None else b""
    return head + b"".join(b"data: %b\n" % line for line in lines) + b"\n"


def retry(milliseconds: int) -> bytes:
    """The time to wait before reconnecting."""
    return b"retry: %d\n\n" % milliseconds
