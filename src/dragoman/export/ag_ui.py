"""AG-UI events, one per line: a turn is a run, a session is a thread.

==================  ==========================================================================
message             events
==================  ==========================================================================
turn_started        ``RUN_STARTED``
text, its deltas    ``TEXT_MESSAGE_START``, ``TEXT_MESSAGE_CONTENT``, ``TEXT_MESSAGE_END``
thinking, deltas    the same of ``REASONING_MESSAGE``, between ``REASONING_START`` and ``…_END``
tool_call           ``TOOL_CALL_START``, ``TOOL_CALL_ARGS``, ``TOOL_CALL_END``
tool_result         ``TOOL_CALL_RESULT``
plan, diff          ``ACTIVITY_SNAPSHOT`` of the type ``PLAN`` or ``DIFF``
approval_requested, ``CUSTOM`` with the message's type as its name, and the message as its value
approval_settled,
usage, rate_limits,
notice, compacted
output delta        ``CUSTOM``, named ``output``
turn_ended          ``RUN_FINISHED`` with its outcome and tokens; ``RUN_ERROR`` if it failed
prompt              ``TEXT_MESSAGE_…`` of the ``user``, with "context" included
context             the same of the ``system``, with "context" included
unknown, malformed  ``RAW``, if included
session_started,    nothing
session_ended
==================  ==========================================================================

Approvals and questions are ``CUSTOM`` events and do not end the run. A message outside of a turn starts a run of
its own. Messages of other sessions (sub-agents) belong to the run during which they arrive, with their id as
``subagentRunId``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from dragoman.export.base import Options
from dragoman.export.spoken import Completed, Piece, Spoken
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
    type_of,
)
from dragoman.model.usage import Usage

_encoder = msgspec.json.Encoder()
_Event = dict[str, Any]
_MOST: Final = (1 << 53) - 1
"""The largest integer that JavaScript represents exactly."""
_TEXT: Final = "TEXT_MESSAGE"
_REASONING: Final = "REASONING_MESSAGE"


class AgUiExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include
        self._session_id: str | None = None
        self._run_id: str | None = None
        self._runs = 0
        self._notes = 0
        self._texts = Spoken("text")
        self._thoughts = Spoken("reasoning")

    def export(self, messages: Iterable[Message]) -> bytes:
        return _encoder.encode_lines([event for each in messages for event in self._events(each)])

    def finish(self) -> bytes:
        if self._run_id is None:
            return b""
        return _encoder.encode_lines([*self._close(), self._run("RUN_FINISHED")])

    def _events(self, message: Message) -> Iterator[_Event]:
        if self._session_id is None:
            self._session_id = message.session_id
        is_own = message.session_id in (self._session_id, None)
        about: _Event = {}
        if message.at is not None:
            about["timestamp"] = int(message.at.timestamp() * 1000)
        if isinstance(message, TurnStarted | TurnEnded):
            if is_own:
                yield from ({**event, **about} for event in self._frame(message))
            return
        if not is_own:
            about["subagentRunId"] = message.session_id
        for event in self._content(message):
            if self._run_id is None:
                yield self._open(message.turn_id)
            yield {**event, **about}

    # Start and end of a run.

    def _frame(self, message: TurnStarted | TurnEnded) -> Iterator[_Event]:
        if self._run_id is None:
            yield self._open(message.turn_id)
        if isinstance(message, TurnStarted):
            return
        yield from self._close()
        spent = [_tokens(message.usage)] if message.usage is not None else []
        if message.outcome == "failed":
            error = message.error
            failed: _Event = {"type": "RUN_ERROR", "usage": spent}
            failed["message"] = error.message if error else "the turn failed"
            failed["code"] = error.kind if error else "turn_failed"
            self._run_id = None
            yield failed
            return
        how = "success" if message.outcome == "completed" else "cancelled"
        yield {**self._run("RUN_FINISHED"), "outcome": {"type": how}, "usage": spent}
        self._run_id = None

    def _open(self, turn_id: str | None) -> _Event:
        self._runs += 1
        self._run_id = turn_id or f"run-{self._runs}"
        return self._run("RUN_STARTED")

    def _run(self, kind: str) -> _Event:
        return {"type": kind, "threadId": self._session_id or "session", "runId": self._run_id}

    def _close(self) -> Iterator[_Event]:
        for message_id in self._texts.end():
            yield {"type": f"{_TEXT}_END", "messageId": message_id}
        for message_id in self._thoughts.end():
            yield {"type": f"{_REASONING}_END", "messageId": message_id}
            yield {"type": "REASONING_END", "messageId": message_id}

    # Content of a run.

    def _content(self, message: Message) -> Iterator[_Event]:
        match message:
            case Delta(of="text"):
                yield from _grown(_TEXT, self._texts.add(message.message_id, message.text))
            case Delta(of="thinking"):
                yield from _grown(_REASONING, self._thoughts.add(message.message_id, message.text))
            case Delta(of="output"):
                output = {"toolCallId": message.message_id, "delta": message.text}
                yield {"type": "CUSTOM", "name": "output", "value": output}
            case Text(text=text):
                yield from _whole(_TEXT, self._texts.complete(message.message_id, text))
            case Thinking(text=text):
                yield from _whole(_REASONING, self._thoughts.complete(None, text))
            case ToolCall(call_id=call_id, tool=tool):
                given = _encoder.encode(message.input).decode()
                yield {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": tool}
                yield {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": given}
                yield {"type": "TOOL_CALL_END", "toolCallId": call_id}
            case ToolResult():
                yield _result(message)
            case Plan(steps=steps, explanation=explanation):
                plan = {"steps": steps, "explanation": explanation}
                yield self._activity("PLAN", plan)
            case Diff(unified=unified):
                yield self._activity("DIFF", {"unified": unified})
            case (
                ApprovalRequested()
                | ApprovalSettled()
                | UsageReport()
                | RateLimits()
                | Notice()
                | Compacted()
            ):
                yield {"type": "CUSTOM", "name": type_of(type(message)), "value": message}
            case Prompt(text=text):
                if "context" in self._include:
                    yield from self._aside("user", text)
            case Context(text=text):
                if "context" in self._include:
                    yield from self._aside("system", text)
            case Unknown(raw=raw) | Malformed(raw=raw):
                if "raw" in self._include:
                    yield {"type": "RAW", "event": raw}
            case Delta() | SessionStarted() | SessionEnded() | TurnStarted() | TurnEnded():
                return

    def _activity(self, kind: str, content: _Event) -> _Event:
        message_id = f"{kind.lower()}-{self._run_id or self._runs + 1}"
        event = {"type": "ACTIVITY_SNAPSHOT", "messageId": message_id, "activityType": kind}
        return {**event, "content": content, "replace": True}

    def _aside(self, role: str, text: str) -> Iterator[_Event]:
        self._notes += 1
        message_id = f"{role}-{self._notes}"
        yield {"type": f"{_TEXT}_START", "messageId": message_id, "role": role}
        if text:
            yield {"type": f"{_TEXT}_CONTENT", "messageId": message_id, "delta": text}
        yield {"type": f"{_TEXT}_END", "messageId": message_id}


def _result(message: ToolResult) -> _Event:
    facts = {
        "status": message.status,
        "isError": message.is_error,
        "exitCode": message.exit_code,
        "durationMs": message.duration_ms,
    }
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": f"{message.call_id}-result",
        "toolCallId": message.call_id,
        "content": message.output,
        "role": "tool",
        "metadata": {name: value for name, value in facts.items() if value is not None},
    }


def _tokens(usage: Usage) -> _Event:
    counts = {
        "inputTokens": usage.input_tokens,
        "cachedInputTokens": usage.cached_input_tokens,
        "cacheWriteInputTokens": usage.cache_write_input_tokens,
        "outputTokens": usage.output_tokens,
        "reasoningTokens": usage.reasoning_output_tokens,
        "totalTokens": usage.total_tokens,
    }
    return {name: min(count, _MOST) for name, count in counts.items()}


def _grown(kind: str, piece: Piece) -> Iterator[_Event]:
    if piece.begins and kind == _REASONING:
        yield {"type": "REASONING_START", "messageId": piece.part_id}
    if piece.begins:
        role = "reasoning" if kind == _REASONING else "assistant"
        yield {"type": f"{kind}_START", "messageId": piece.part_id, "role": role}
    if piece.text:
        yield {"type": f"{kind}_CONTENT", "messageId": piece.part_id, "delta": piece.text}


def _whole(kind: str, completed: Completed) -> Iterator[_Event]:
    if completed.lost is not None:
        yield from _ended(kind, completed.lost)
    yield from _grown(kind, completed.piece)
    if completed.ends:
        yield from _ended(kind, completed.piece.part_id)


def _ended(kind: str, message_id: str) -> Iterator[_Event]:
    yield {"type": f"{kind}_END", "messageId": message_id}
    if kind == _REASONING:
        yield {"type": "REASONING_END", "messageId": message_id}
