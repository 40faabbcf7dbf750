"""One object per message, with a role, content blocks, and its source line.

==================  ===============  ============================================================
message             role             content
==================  ===============  ============================================================
prompt              user             ``text``, images as in :mod:`dragoman.export.blocks`
context             user or system   ``text``, if included (``developer`` counts as ``system``)
text                assistant        ``text``
thinking            assistant        ``thinking``
tool_call           assistant        ``tool_use``
tool_result         assistant        ``tool_result``
plan                assistant        ``tool_use`` and ``tool_result`` of TodoWrite; nothing while a
                                     TodoWrite call is open, because that call has it
unknown, malformed  system           none: the line is in ``_original``, if included
the rest            nothing
==================  ===============  ============================================================

Adjacent messages from the same source line, session and role become one object with several blocks: a command
that is only reported when it is done gives a ``tool_use`` and its ``tool_result`` together. The id is that of
the call or text, or else a digest of the message's position and content.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final, Literal, TypeAlias

import msgspec

from dragoman.export.base import Include, Options
from dragoman.export.blocks import (
    Block,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    plan_blocks,
    prompt_blocks,
    todo_input,
)
from dragoman.model import tools
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

DEFAULT: Final[frozenset[Include]] = frozenset()
"""Included by default."""

Role: TypeAlias = Literal["user", "assistant", "system"]

_encoder = msgspec.json.Encoder()
_json = msgspec.json.Decoder(msgspec.Raw)


class _ThinkingBlock(msgspec.Struct, tag="thinking"):
    thinking: str


_Blocks: TypeAlias = list[Block | _ThinkingBlock]


class _Unified(msgspec.Struct, rename={"original": "_original"}):
    id: str
    role: Role
    content: _Blocks
    timestamp: int | None
    tool: str | None
    original: msgspec.Raw | str | None


class UnifiedExporter:
    wants_lines: bool = True

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT
        self._source_line = options.source_line
        self._harnesses: dict[str | None, str] = {}
        self._open_todo_calls: set[tuple[str | None, str]] = set()

    def export(self, messages: Iterable[Message]) -> bytes:
        made: list[_Unified] = []
        heads: list[Message] = []
        for message in messages:
            said = self._content(message)
            if said is None:
                continue
            role, blocks, own_id = said
            if made and role == made[-1].role and _same_source(message, heads[-1]):
                made[-1].content += blocks
                made[-1].id = made[-1].id or own_id
            else:
                made.append(self._unified(message, role, blocks, own_id))
                heads.append(message)
        for unified, head in zip(made, heads, strict=True):
            unified.id = unified.id or _digest(unified, head)
        return _encoder.encode_lines(made)

    def finish(self) -> bytes:
        return b""

    def _content(self, message: Message) -> tuple[Role, _Blocks, str] | None:
        """The role, the blocks and, if it has one, the id of a message."""
        match message:
            case SessionStarted(session_id=session_id, harness=harness):
                self._harnesses[session_id] = harness
                return None
            case Prompt():
                return "user", [*prompt_blocks(message)], ""
            case Context(role=said_by, text=text):
                role = "system" if said_by in ("developer", "system") else "user"
                return (role, [TextBlock(text)], "") if "context" in self._include else None
            case Text(text=text, message_id=message_id):
                return "assistant", [TextBlock(text)], message_id or ""
            case Thinking(text=text):
                return "assistant", [_ThinkingBlock(text)], ""
            case ToolCall(session_id=session_id, call_id=call_id, tool=tool):
                if tool == tools.TODO_WRITE:
                    self._open_todo_calls.add((session_id, call_id))
                given = todo_input(message.input) if tool == tools.TODO_WRITE else message.input
                return "assistant", [ToolUseBlock(call_id, tool, given)], call_id
            case ToolResult(session_id=session_id, call_id=call_id):
                self._open_todo_calls.discard((session_id, call_id))
                return "assistant", [ToolResultBlock(call_id, message.output, message.is_error)], ""
            case Plan(session_id=session_id):
                if any(session == session_id for session, _ in self._open_todo_calls):
                    return None
                call, result = plan_blocks(message)
                return "assistant", [call, result], call.id
            case TurnEnded(session_id=session_id):
                self._open_todo_calls = {
                    each for each in self._open_todo_calls if each[0] != session_id
                }
                return None
            case Unknown() | Malformed():
                return ("system", [], "") if "raw" in self._include else None
            case (
                TurnStarted()
                | Diff()
                | Delta()
                | UsageReport()
                | RateLimits()
                | ApprovalRequested()
                | ApprovalSettled()
                | Notice()
                | Compacted()
                | SessionEnded()
            ):
                return None

    def _unified(self, message: Message, role: Role, blocks: _Blocks, own_id: str) -> _Unified:
        return _Unified(
            id=own_id,
            role=role,
            content=blocks,
            timestamp=round(message.at.timestamp() * 1000) if message.at else None,
            tool=self._harnesses.get(message.session_id),
            original=self._original(message.line),
        )

    def _original(self, number: int) -> msgspec.Raw | str | None:
        line = self._source_line(number)
        if line is None:
            return None
        text = line.decode("utf-8", "replace")
        if "\ufffd" in text and text.encode() != line:
            return text  # not UTF-8, so not JSON either
        try:
            return _json.decode(line)
        except msgspec.DecodeError:
            return text


def _same_source(one: Message, other: Message) -> bool:
    return one.line == other.line != 0 and one.session_id == other.session_id


def _digest(unified: _Unified, head: Message) -> str:
    said = _encoder.encode((head.session_id, head.line, unified.content))
    return f"msg_{sha256(said).hexdigest()[:16]}"
