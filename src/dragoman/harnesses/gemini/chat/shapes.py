"""The lines of a chat file, under the file's own names: as much of each as is read.

A line has no word for its kind. What it is depends on the keys that it has.
"""

from __future__ import annotations

from typing import Any

import msgspec


class LogLine(msgspec.Struct, gc=False, kw_only=True):
    """A line of any kind."""

    # A header.
    sessionId: Any = None
    projectHash: Any = None
    kind: Any = None
    startTime: Any = None
    directories: Any = None
    summary: Any = None
    messages: Any = None

    # A message.
    id: Any = None
    type: Any = None
    timestamp: Any = None
    content: Any = None
    displayContent: Any = None
    thoughts: Any = None
    tokens: Any = None
    model: Any = None
    toolCalls: Any = None

    # A patch, or the removal of a message and all that follow it.
    patch: Any = msgspec.field(default=None, name="$set")
    rewind_to: Any = msgspec.field(default=None, name="$rewindTo")

    @property
    def is_header(self) -> bool:
        return isinstance(self.sessionId, str) and isinstance(self.projectHash, str)


class ToolCallRecord(msgspec.Struct, gc=False, kw_only=True):
    """A call within a message."""

    id: Any = None
    name: Any = None
    args: Any = None
    result: Any = None
    status: Any = None
    timestamp: Any = None
    resultDisplay: Any = None
    agentId: Any = None


decode_line = msgspec.json.Decoder(LogLine).decode


def as_line(value: Any) -> LogLine:
    """A message within a patch."""
    return msgspec.convert(value, LogLine)


def as_call(value: Any) -> ToolCallRecord:
    return msgspec.convert(value, ToolCallRecord)
