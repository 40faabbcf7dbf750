"""A small chat stream that browser clients read: one object per event, absent values left out.

=====================  ========================================================================
message                line
=====================  ========================================================================
session_started        ``init`` with ``session_id`` and ``modelId``
text delta             ``message`` of the ``assistant`` with ``delta: true`` (included by default)
text                   ``message`` of the ``assistant`` with ``delta: false``
tool_call              ``tool_use``
tool_result            ``tool_result``
notice                 ``stderr`` for warnings and errors, nothing for information
turn_ended             ``result``; nothing for a turn that the stream leaves open
prompt, context        ``message`` with its role (``user`` for prompts), with "context" included
unknown, malformed     ``raw``, if included
the rest               nothing
=====================  ========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from dragoman.export.base import Include, Options
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    Diff,
    Malformed,
    Message,
    Notice,
    Plan,
    Prompt,
    RateLimits,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
    UsageReport,
)
from dragoman.model.usage import Usage

DEFAULT: Final[frozenset[Include]] = frozenset({"deltas"})
"""Included by default."""

_encoder = msgspec.json.Encoder()


class _Init(msgspec.Struct, tag="init", omit_defaults=True):
    session_id: str | None = None
    model_id: str | None = msgspec.field(default=None, name="modelId")


class _Said(msgspec.Struct, tag="message"):
    role: str
    content: str
    delta: bool


class _ToolUse(msgspec.Struct, tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]


class _ResultLine(msgspec.Struct, tag="tool_result", omit_defaults=True):
    id: str
    output: str
    is_error: bool
    exit_code: int | None = None


class _Spent(msgspec.Struct):
    """Tokens. The keys are part of the format, so a new field of ``Usage`` does not appear here."""

    input_tokens: int
    cached_input_tokens: int
    cache_write_input_tokens: int
    output_tokens: int
    reasoning_output_tokens: int


class _Result(msgspec.Struct, tag="result", omit_defaults=True):
    status: str
    error: str | None = None
    usage: _Spent | None = None


class _Stderr(msgspec.Struct, tag="stderr"):
    content: str


class _Raw(msgspec.Struct, tag="raw"):
    content: str


class NdjsonExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT

    def export(self, messages: Iterable[Message]) -> bytes:
        lines = (self._line(message) for message in messages)
        return _encoder.encode_lines([line for line in lines if line is not None])

    def finish(self) -> bytes:
        return b""

    def _line(self, message: Message) -> msgspec.Struct | None:
        match message:
            case SessionStarted(session_id=session_id, model=model):
                return _Init(session_id, model)
            case Delta(of="text", text=text):
                return _Said("assistant", text, delta=True) if "deltas" in self._include else None
            case Text(text=text):
                return _Said("assistant", text, delta=False)
            case ToolCall(call_id=call_id, tool=tool):
                return _ToolUse(call_id, tool, message.input)
            case ToolResult(call_id=call_id, output=output):
                return _ResultLine(call_id, output, message.is_error, message.exit_code)
            case Notice(level=level, text=text):
                return _Stderr(text) if level != "info" else None
            case TurnEnded(outcome=outcome, error=error, usage=usage):
                return _Result(outcome, error.message if error else None, _spent(usage))
            case Prompt(text=text):
                return _Said("user", text, delta=False) if "context" in self._include else None
            case Context(role=role, text=text):
                return _Said(role, text, delta=False) if "context" in self._include else None
            case Unknown(raw=raw) | Malformed(raw=raw):
                return _Raw(raw) if "raw" in self._include else None
            case (
                TurnStarted()
                | Thinking()
                | Plan()
                | Diff()
                | Delta()
                | UsageReport()
                | RateLimits()
                | ApprovalRequested()
                | ApprovalSettled()
                | Compacted()
                | SessionEnded()
            ):
                return None


def _spent(usage: Usage | None) -> _Spent | None:
    if usage is None:
        return None
    return _Spent(
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        cache_write_input_tokens=usage.cache_write_input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_output_tokens=usage.reasoning_output_tokens,
    )
