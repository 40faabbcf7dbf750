"""The lines of Claude Code's stream-json: their shapes and contents.

This module defines the lines and what they take from their session.
:mod:`dragoman.export.claude.exporter` decides which message becomes which line. Readers rely on the fields that
Claude Code always writes, so those are always present with the same type: unknown values are empty or 0, and
null only where Claude Code has null, too.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

import msgspec

from dragoman.export.blocks import Block, MessageTokens, tokens
from dragoman.export.claude.session import ExportedSession
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    BaseMessage,
    Compacted,
    Message,
    Notice,
    SessionStarted,
    ToolCall,
    TurnEnded,
    type_of,
)

_TASK_STATUS: Final = {"completed": "completed", "failed": "failed", "interrupted": "stopped"}
_COMMON: Final = frozenset(BaseMessage.__struct_fields__)


class _AssistantMessage(msgspec.Struct, tag="message"):
    id: str
    role: Literal["assistant"]
    model: str
    content: list[Block]
    stop_reason: None = None
    stop_sequence: None = None
    usage: MessageTokens = MessageTokens()


class _AssistantLine(msgspec.Struct, tag="assistant"):
    message: _AssistantMessage
    parent_tool_use_id: str | None
    session_id: str
    uuid: str
    timestamp: datetime | msgspec.UnsetType


class _UserMessage(msgspec.Struct):
    role: Literal["user"]
    content: list[Block]


class _UserLine(msgspec.Struct, tag="user"):
    message: _UserMessage
    parent_tool_use_id: str | None
    session_id: str
    uuid: str
    timestamp: datetime | msgspec.UnsetType


def assistant(
    message: Message, session: ExportedSession, block: Block, message_id: str | None = None
) -> object:
    own_id = message_id or f"msg_{session.session_id or 'session'}_{message.line}"
    said = _AssistantMessage(own_id, "assistant", session.model, [block])
    return _AssistantLine(said, *_about(message, session))


def user(message: Message, session: ExportedSession, *blocks: Block) -> object:
    return _UserLine(_UserMessage("user", [*blocks]), *_about(message, session))


def delta(message: Message, session: ExportedSession, piece: dict[str, str]) -> object:
    return {
        "type": "stream_event",
        "event": {"type": "content_block_delta", "index": 0, "delta": piece},
        "session_id": session.session_id,
        "parent_tool_use_id": session.parent_call_id,
        "uuid": session.uuid(message.line),
    }


def system(
    message: Message, session: ExportedSession, subtype: str, **fields: object
) -> dict[str, object]:
    line: dict[str, object] = {
        "type": "system",
        "subtype": subtype,
        **fields,
        "session_id": session.session_id,
        "uuid": session.uuid(message.line),
    }
    if session.parent_call_id is not None:
        line["parent_tool_use_id"] = session.parent_call_id
    return line


def init(message: SessionStarted, session: ExportedSession) -> object:
    return system(
        message,
        session,
        "init",
        cwd=message.cwd or "",
        tools=[],
        mcp_servers=[],
        model=message.model or "",
        permissionMode="default",
        slash_commands=[],
        apiKeySource="none",
    )


def task_started(message: SessionStarted, session: ExportedSession, task: ToolCall) -> object:
    prompt = task.input.get("prompt")
    told = {"prompt": prompt} if isinstance(prompt, str) else {}
    return system(
        message,
        session,
        "task_started",
        task_id=session.session_id,
        tool_use_id=task.call_id,
        description=str(task.input.get("description") or prompt or ""),
        task_type="local_agent",
        **told,
    )


def approval(message: ApprovalRequested | ApprovalSettled, session: ExportedSession) -> object:
    """The message's own fields, under its own name."""
    names = (name for name in message.__struct_fields__ if name not in _COMMON)
    fields = {name: getattr(message, name) for name in names}
    return system(message, session, type_of(type(message)), **fields)


def notice(message: Notice, session: ExportedSession) -> object:
    if not message.will_retry:
        fields = {"level": message.level, "content": message.text}
        return system(message, session, "informational", **fields)
    session.retries += 1
    return system(
        message,
        session,
        "api_retry",
        attempt=session.retries,
        max_retries=0,
        retry_delay_ms=0,
        error_status=None,
        error=message.text,
    )


def compact_boundary(message: Compacted, session: ExportedSession) -> object:
    metadata = {"trigger": "auto", "pre_tokens": session.newest.total_tokens}
    line = system(message, session, "compact_boundary", compact_metadata=metadata)
    if message.summary is not None:
        line["summary"] = message.summary
    return line


def raw(line: str) -> object:
    """A line unchanged; wrapped if it is not JSON."""
    try:
        msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {"type": "raw", "raw": line}
    # A line break between the tokens of JSON means no more than a space.
    return msgspec.Raw(line.replace("\n", " ").encode("utf-8", "replace"))


def result(message: TurnEnded, session: ExportedSession) -> object:
    failed = message.outcome != "completed"
    line: dict[str, object] = {
        "type": "result",
        "subtype": "error_during_execution" if failed else "success",
        "is_error": failed,
        "duration_ms": session.duration_ms(message),
        "duration_api_ms": 0,
        "num_turns": session.turns,
        "result": message.error.message if message.error else session.last_text,
        "session_id": session.session_id,
        "total_cost_usd": 0,
        "usage": tokens(message.usage or session.spent),
        "modelUsage": {},
        "permission_denials": [],
        "uuid": session.uuid(message.line),
    }
    if failed:
        line["errors"] = [message.error.message if message.error else message.outcome]
    return line


def task_notification(message: TurnEnded, session: ExportedSession) -> object:
    usage = message.usage or session.spent
    return system(
        message,
        session,
        "task_notification",
        task_id=session.session_id,
        tool_use_id=session.parent_call_id,
        status=_TASK_STATUS[message.outcome],
        output_file="",
        summary=message.error.message if message.error else session.last_text,
        usage={
            "total_tokens": usage.total_tokens,
            "tool_uses": session.tool_calls,
            "duration_ms": session.duration_ms(message),
        },
    )


def _about(
    message: Message, session: ExportedSession
) -> tuple[str | None, str, str, datetime | msgspec.UnsetType]:
    return (
        session.parent_call_id,
        session.session_id,
        session.uuid(message.line),
        message.at or msgspec.UNSET,
    )
