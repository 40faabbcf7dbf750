"""The lines of the stream, under the program's own names: as much of each as is read."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec


class StreamLine(msgspec.Struct, gc=False, kw_only=True, tag_field="type"):
    """What lines of every kind may have."""

    timestamp: Any = None


class Init(StreamLine, kw_only=True, tag="init"):
    session_id: Any = None
    model: Any = None


class Message(StreamLine, kw_only=True, tag="message"):
    role: Any = None
    content: Any = None
    delta: Any = None


class ToolUse(StreamLine, kw_only=True, tag="tool_use"):
    tool_name: Any = None
    tool_id: Any = None
    parameters: Any = None


class ToolResult(StreamLine, kw_only=True, tag="tool_result"):
    tool_id: Any = None
    status: Any = None
    output: Any = None
    error: Any = None


class Error(StreamLine, kw_only=True, tag="error"):
    severity: Any = None
    message: Any = None


class Result(StreamLine, kw_only=True, tag="result"):
    status: Any = None
    error: Any = None
    stats: Any = None


AnyLine: TypeAlias = Init | Message | ToolUse | ToolResult | Error | Result

decode_line = msgspec.json.Decoder(AnyLine).decode


class RecordedRun(msgspec.Struct, gc=False):
    """What a two-way recording says about the run itself."""

    rc: Any = None


decode_run = msgspec.json.Decoder(RecordedRun).decode
