"""The UI message stream that chat components of the AI SDK read: one part per line, one message per turn.

==================  ==========================================================================
message             parts
==================  ==========================================================================
turn_started        ``start``, ``start-step``
text, its deltas    ``text-start``, ``text-delta``, ``text-end``
thinking, deltas    ``reasoning-start``, ``reasoning-delta``, ``reasoning-end``
tool_call           ``tool-input-available``, run by us (``providerExecuted``), not by the page
output delta        ``data-output``, shown, not kept
tool_result         ``tool-output-available``, ``tool-output-error`` or ``tool-output-denied``
plan, diff,         ``data-plan``, ``data-diff``, ``data-compacted``
compacted
approval_requested  ``data-approval``; also ``tool-approval-request`` if its call is known
approval_settled    ``data-approval`` with the decision
usage               ``message-metadata``
rate_limits         ``data-rate-limits``, shown, not kept
notice              ``data-notice``
turn_ended          ``finish-step`` and ``finish``; before them ``error`` if it failed; ``abort``
                    in their place if it was interrupted
prompt, context     ``data-prompt``, ``data-context``, with "context" included
unknown, malformed  ``data-raw``, if included
session_started,    nothing; the next ``start`` names the program
session_ended
==================  ==========================================================================

Nothing that a client would reject is written: the result of a call that it does not know is preceded by the
call, and a message outside of a turn starts a UI message of its own. Messages of other sessions (sub-agents)
belong to the turn during which they arrive.
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
)

HEADERS: Final = {"x-vercel-ai-ui-message-stream": "v1"}
"""The headers of a response with this stream."""
DONE: Final = b"[DONE]"
"""The last event of a stream."""

_encoder = msgspec.json.Encoder()
_Part = dict[str, Any]


class AiSdkExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include
        self._session_id: str | None = None
        self._is_open = False
        self._messages = 0
        self._about: _Part = {}
        self._calls: dict[str, ToolCall] = {}
        """The calls that the client knows from this message."""
        self._asks: dict[str, _Part] = {}
        """Open approvals: a part that changes is sent again as a whole."""
        self._texts = Spoken("text")
        self._thoughts = Spoken("reasoning")

    def export(self, messages: Iterable[Message]) -> bytes:
        return _encoder.encode_lines([part for each in messages for part in self._parts(each)])

    def finish(self) -> bytes:
        if not self._is_open:
            return b""
        ended = {"type": "finish", "finishReason": "other"}
        return _encoder.encode_lines([*self._close(), {"type": "finish-step"}, ended])

    def _parts(self, message: Message) -> Iterator[_Part]:
        if self._session_id is None:
            self._session_id = message.session_id
        if isinstance(message, SessionStarted):
            if message.session_id == self._session_id:
                self._about = {"harness": message.harness, "model": message.model}
            return
        is_own = message.session_id in (self._session_id, None)
        if isinstance(message, TurnStarted | TurnEnded):
            if is_own:
                yield from self._frame(message)
            return
        for part in self._content(message):
            if not self._is_open:
                yield from self._open(message.turn_id)
            yield part

    # Start and end of a message.

    def _frame(self, message: TurnStarted | TurnEnded) -> Iterator[_Part]:
        if isinstance(message, TurnStarted):
            if not self._is_open:
                yield from self._open(message.turn_id)
            return
        if not self._is_open:
            yield from self._open(message.turn_id)
        yield from self._close()
        yield from _ending(message)
        self._is_open = False

    def _open(self, turn_id: str | None) -> Iterator[_Part]:
        self._is_open = True
        self._messages += 1
        self._calls.clear()
        about = {"sessionId": self._session_id, "turnId": turn_id, **self._about}
        known = {name: value for name, value in about.items() if value is not None}
        message_id = turn_id or f"message-{self._messages}"
        yield {"type": "start", "messageId": message_id, "messageMetadata": known}
        yield {"type": "start-step"}

    def _close(self) -> Iterator[_Part]:
        for part_id in self._texts.end():
            yield {"type": "text-end", "id": part_id}
        for part_id in self._thoughts.end():
            yield {"type": "reasoning-end", "id": part_id}

    # Content of a message.

    def _content(self, message: Message) -> Iterator[_Part]:
        match message:
            case Delta(of="text"):
                yield from _grown("text", self._texts.add(message.message_id, message.text))
            case Delta(of="thinking"):
                yield from _grown("reasoning", self._thoughts.add(message.message_id, message.text))
            case Delta(of="output"):
                output = {"toolCallId": message.message_id, "delta": message.text}
                yield {"type": "data-output", "data": output, "transient": True}
            case Text(text=text):
                yield from _whole("text", self._texts.complete(message.message_id, text))
            case Thinking(text=text):
                yield from _whole("reasoning", self._thoughts.complete(None, text))
            case ToolCall():
                self._calls[message.call_id] = message
                yield _call(message)
            case ToolResult():
                yield from self._result(message)
            case Plan():
                plan = {"steps": message.steps, "explanation": message.explanation}
                yield {"type": "data-plan", "id": "plan", "data": plan}
            case Diff(unified=unified):
                yield {"type": "data-diff", "id": "diff", "data": {"unified": unified}}
            case ApprovalRequested():
                yield from self._asked(message)
            case ApprovalSettled(approval_id=approval_id, decision=decision):
                asked = self._asks.pop(approval_id, {"approvalId": approval_id})
                settled = {**asked, "decision": decision}
                yield {"type": "data-approval", "id": approval_id, "data": settled}
            case UsageReport():
                spent = {"usage": message.total, "contextWindow": message.context_window}
                known = {name: value for name, value in spent.items() if value is not None}
                yield {"type": "message-metadata", "messageMetadata": known}
            case RateLimits(windows=windows):
                limits = {"windows": windows}
                yield {"type": "data-rate-limits", "data": limits, "transient": True}
            case Notice(level=level, text=text):
                notice = {"level": level, "text": text, "willRetry": message.will_retry}
                yield {"type": "data-notice", "data": notice}
            case Compacted(summary=summary):
                yield {"type": "data-compacted", "data": {"summary": summary}}
            case Prompt(text=text, images=images):
                if "context" in self._include:
                    yield {"type": "data-prompt", "data": {"text": text, "images": images}}
            case Context(role=role, text=text):
                if "context" in self._include:
                    yield {"type": "data-context", "data": {"role": role, "text": text}}
            case Unknown(raw=raw) | Malformed(raw=raw):
                if "raw" in self._include:
                    yield {"type": "data-raw", "data": {"raw": raw}}
            case Delta() | SessionStarted() | SessionEnded() | TurnStarted() | TurnEnded():
                return

    def _result(self, message: ToolResult) -> Iterator[_Part]:
        call_id = message.call_id
        if call_id not in self._calls:
            call = ToolCall(call_id=call_id, tool="unknown", native_tool="unknown")
            self._calls[call_id] = call
            yield _call(call)
        if message.status == "declined":
            yield {"type": "tool-output-denied", "toolCallId": call_id}
            return
        part: _Part = {"type": "tool-output-available", "toolCallId": call_id}
        if message.is_error:
            part = {"type": "tool-output-error", "toolCallId": call_id}
            part["errorText"] = message.output or f"the call {message.status}"
        else:
            part["output"] = message.output
        facts = {
            "status": message.status,
            "exitCode": message.exit_code,
            "durationMs": message.duration_ms,
        }
        known = {name: value for name, value in facts.items() if value is not None}
        yield {**part, **_RUN_BY_US, "providerMetadata": {"dragoman": known}}

    def _asked(self, message: ApprovalRequested) -> Iterator[_Part]:
        approval_id = message.approval_id
        if approval_id in self._calls:
            yield {
                "type": "tool-approval-request",
                "approvalId": approval_id,
                "toolCallId": approval_id,
            }
        asked = {
            "approvalId": approval_id,
            "kind": message.kind,
            "tool": message.tool,
            "summary": message.summary,
            "detail": message.detail,
            "choices": message.choices,
            "decision": None,
        }
        self._asks[approval_id] = asked
        yield {"type": "data-approval", "id": approval_id, "data": asked}


_RUN_BY_US: Final = {"dynamic": True, "providerExecuted": True}


def _call(message: ToolCall) -> _Part:
    part = {"type": "tool-input-available", "toolCallId": message.call_id}
    return {**part, "toolName": message.tool, "input": message.input, **_RUN_BY_US}


def _grown(kind: str, piece: Piece) -> Iterator[_Part]:
    if piece.begins:
        yield {"type": f"{kind}-start", "id": piece.part_id}
    if piece.text:
        yield {"type": f"{kind}-delta", "id": piece.part_id, "delta": piece.text}


def _whole(kind: str, completed: Completed) -> Iterator[_Part]:
    if completed.lost is not None:
        yield {"type": f"{kind}-end", "id": completed.lost}
    yield from _grown(kind, completed.piece)
    if completed.ends:
        yield {"type": f"{kind}-end", "id": completed.piece.part_id}


def _ending(message: TurnEnded) -> Iterator[_Part]:
    if message.outcome == "interrupted":
        yield {"type": "abort", "reason": message.error.message if message.error else "interrupted"}
        return
    if message.outcome == "failed":
        text = message.error.message if message.error else "the turn failed"
        yield {"type": "error", "errorText": text}
    yield {"type": "finish-step"}
    reason = "stop" if message.outcome == "completed" else "error"
    metadata: _Part = {"outcome": message.outcome}
    if message.usage is not None:
        metadata["turnUsage"] = message.usage
    yield {"type": "finish", "finishReason": reason, "messageMetadata": metadata}
