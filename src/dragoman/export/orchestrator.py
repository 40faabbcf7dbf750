"""Events for a supervisor of agents: activity, cost, outcome, and signs of life.

====================  ======================================================================
message               event
====================  ======================================================================
turn_started          ``session_started`` the first time in a session, then ``notification``
tool_call             ``notification`` with the tool's name
tool_result           ``tool_result`` with the tool's name and how long it took;
                      ``unsupported_tool_call`` if the harness had no such tool
text                  ``notification`` with the first 200 characters
thinking, plan        ``notification`` without details
delta                 ``notification`` without details, as a sign of life
context               ``notification``, if included
approval_requested,   ``notification`` with a short message
approval_settled,
notice, compacted
turn_ended            ``token_usage``, then ``turn_completed``, ``turn_failed`` or
                      ``turn_cancelled``
unknown               ``other_message``, always, as a sign of life; with the line, if included
malformed             ``other_message`` of type ``malformed``, if included
session_started       nothing now; fills the next ``session_started``
prompt, diff, usage,  nothing
rate_limits,
session_ended
====================  ======================================================================

Every event has ``session_id``, ``turn_id`` and ``timestamp``, null if the dialect does not have it.
``session_started`` has ``agent_pid``: the agent's process in a live run on this machine, else null.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

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
from dragoman.model.usage import NOTHING

DEFAULT: Final[frozenset[Include]] = frozenset()
"""Included by default."""

SHORT: Final = 200
"""The most characters of a text in a notification."""

UNSUPPORTED: Final = "unsupported call"
"""The start of the output of a call to a tool that does not exist."""

_encoder = msgspec.json.Encoder()


class _Event(msgspec.Struct, tag_field="type", omit_defaults=True):
    """Fields without a default are always written, even if null."""

    session_id: str | None
    turn_id: str | None
    timestamp: datetime | None


class _SessionStarted(_Event, tag="session_started"):
    harness: str | None
    version: str | None
    model: str | None
    agent_pid: int | None


class _Notification(_Event, tag="notification"):
    event: str
    message: str | None = None
    tool_name: str | None = None
    level: str | None = None


class _ToolResult(_Event, tag="tool_result"):
    tool_name: str | None
    tool_duration_ms: int | None
    is_error: bool
    status: str
    exit_code: int | None


class _UnsupportedToolCall(_Event, tag="unsupported_tool_call"):
    tool_name: str | None


class _TokenUsage(_Event, tag="token_usage"):
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cache_read_tokens: int
    model: str


class _TurnCompleted(_Event, tag="turn_completed"):
    pass


class _Error(msgspec.Struct):
    kind: str
    message: str
    retryable: bool


class _TurnFailed(_Event, tag="turn_failed"):
    error: _Error | None


class _TurnCancelled(_Event, tag="turn_cancelled"):
    pass


class _OtherMessage(_Event, tag="other_message"):
    native_type: str
    raw: str | None = None


class OrchestratorExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT
        self._pid = options.pid
        self._started: dict[str | None, SessionStarted] = {}
        self._has_had_a_turn: set[str | None] = set()
        self._open_calls: dict[tuple[str | None, str], ToolCall] = {}

    def export(self, messages: Iterable[Message]) -> bytes:
        return _encoder.encode_lines([event for each in messages for event in self._events(each)])

    def finish(self) -> bytes:
        return b""

    def _events(self, message: Message) -> Sequence[_Event]:
        about = (message.session_id, message.turn_id, message.at)
        match message:
            case SessionStarted(session_id=session_id):
                self._started[session_id] = message
                return ()
            case TurnStarted():
                return (self._turn_started(message),)
            case ToolCall(session_id=session_id, call_id=call_id, tool=tool):
                self._open_calls[session_id, call_id] = message
                return (_Notification(*about, "tool_started", tool_name=tool),)
            case ToolResult():
                return (self._tool_result(message),)
            case Text(text=text):
                return (_Notification(*about, "message", text[:SHORT]),)
            case Thinking():
                return (_Notification(*about, "thinking"),)
            case Plan():
                return (_Notification(*about, "plan"),)
            case Delta():
                return (_Notification(*about, "delta"),)
            case Context(text=text):
                context = _Notification(*about, "context", text[:SHORT])
                return (context,) if "context" in self._include else ()
            case ApprovalRequested(summary=summary, tool=tool):
                return (_Notification(*about, "approval_requested", summary[:SHORT], tool),)
            case ApprovalSettled(decision=decision):
                return (_Notification(*about, "approval_settled", decision[:SHORT]),)
            case Notice(level=level, text=text, will_retry=will_retry):
                event = "retry" if will_retry else "notice"
                return (_Notification(*about, event, text[:SHORT], level=level),)
            case Compacted(summary=summary):
                return (_Notification(*about, "compacted", summary and summary[:SHORT]),)
            case TurnEnded():
                return self._turn_ended(message)
            case Unknown(native_type=native_type, raw=raw):
                with_raw = raw if "raw" in self._include else None
                return (_OtherMessage(*about, native_type, with_raw),)
            case Malformed(raw=raw):
                event = _OtherMessage(*about, "malformed", raw)
                return (event,) if "raw" in self._include else ()
            case Prompt() | Diff() | UsageReport() | RateLimits() | SessionEnded():
                return ()

    def _turn_started(self, message: TurnStarted) -> _Event:
        about = (message.session_id, message.turn_id, message.at)
        if message.session_id in self._has_had_a_turn:
            return _Notification(*about, "turn_started")
        self._has_had_a_turn.add(message.session_id)
        session = self._started.get(message.session_id)
        if session is None:
            return _SessionStarted(*about, None, None, None, self._pid())
        return _SessionStarted(*about, session.harness, session.version, session.model, self._pid())

    def _tool_result(self, message: ToolResult) -> _Event:
        about = (message.session_id, message.turn_id, message.at)
        call_id = (message.session_id, message.call_id)
        call = self._open_calls.get(call_id)
        if message.status != "abandoned":  # the result of such a call may still come
            self._open_calls.pop(call_id, None)
        tool = call.tool if call else None
        if message.output.startswith(UNSUPPORTED):
            return _UnsupportedToolCall(*about, tool)
        duration_ms = message.duration_ms
        if duration_ms is None and call and call.at and message.at:
            duration_ms = max(0, round((message.at - call.at).total_seconds() * 1000))
        return _ToolResult(
            *about, tool, duration_ms, message.is_error, message.status, message.exit_code
        )

    def _turn_ended(self, message: TurnEnded) -> Sequence[_Event]:
        about = (message.session_id, message.turn_id, message.at)
        usage = message.usage or NOTHING
        spent = _TokenUsage(
            *about,
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            usage.cached_input_tokens,
            "",
        )
        match message.outcome:
            case "completed":
                return spent, _TurnCompleted(*about)
            case "failed":
                error = message.error
                failure = _Error(error.kind, error.message, error.retryable) if error else None
                return spent, _TurnFailed(*about, failure)
            case "interrupted":
                return spent, _TurnCancelled(*about)
