"""Events as a browser's ``EventSource`` reads them. Each is made once and sent to everybody."""

from __future__ import annotations

import re
from typing import Final

HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # a proxy that collects an answer before it hands it on is of no use
}
HEARTBEAT: Final = b":\n\n"
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


def frame(data: bytes, *, event: str | None = None, event_id: int | None = None) -> bytes:
    """One event with one line of data, such as JSON."""
    head = b"id: %d\n" % event_id if event_id is not None else b""
    kind = b"event: %b\n" % event.encode() if event is not None else b""
    return b"%b%bdata: %b\n\n" % (head, kind, data)


def text_frame(data: bytes, *, event_id: int | None = None) -> bytes:
    """One event with as many lines of data as it takes."""
    lines = _LINE_END.split(data.removesuffix(b"\n"))
    head = b"id: %d\n" % event_id if event_id is not None else b""
    return head + b"".join(b"data: %b\n" % line for line in lines) + b"\n"


def retry(milliseconds: int) -> bytes:
    """How long to wait before connecting again."""
    return b"retry: %d\n\n" % milliseconds
