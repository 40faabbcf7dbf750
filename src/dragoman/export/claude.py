"""The lines Claude Code writes with ``--output-format stream-json``, for programs that read those.

==================  ===========================================================================
message             line
==================  ===========================================================================
session_started     ``system`` / ``init``
turn_started        ``system`` / ``turn_started``
prompt              ``user`` with a text block and image blocks
context             ``system`` / ``context``, if included
text                ``assistant`` with a text block
thinking            ``assistant`` with a thinking block
tool_call           ``assistant`` with a tool_use block
tool_result         ``user`` with a tool_result block
plan                a TodoWrite tool_use and its tool_result; nothing while a TodoWrite call is
                    open, for that call has said it already
delta               ``stream_event`` / ``content_block_delta`` for text and thinking, if included
approval_requested  ``system`` / ``approval_requested``, never a ``control_request``: that would
                    wait for an answer which nobody can give
approval_settled    ``system`` / ``approval_settled``
notice              ``system`` / ``api_retry`` if it says so, else ``system`` / ``informational``
compacted           ``system`` / ``compact_boundary``
turn_ended          ``result``; in a sub-agent ``system`` / ``task_notification``, because readers
                    take the first ``result`` for the end of the whole turn
unknown, malformed  the line as it came; ``raw``, if included
usage               nothing now; fills the next ``result`` if ``turn_ended`` has no usage
diff, rate_limits,  nothing
session_ended
==================  ===========================================================================

The lines of a sub-agent keep their own ``session_id`` and carry, as ``parent_tool_use_id``, the
newest Task call of the session that started it. Claude's ``input_tokens`` leave out what was read
from or written to the cache; ours do not. The usage of an ``assistant`` line is always zero: what a
single message cost is not known when it is said. Ids come from the session and the source line, so
the same source always gives the same ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final, Literal

import msgspec

from dragoman.export.base import Include, Options
from dragoman.export.blocks import (
    Block,
    TextBlock,
    ThinkingBlock,
    Tokens,
    ToolResultBlock,
    ToolUseBlock,
    plan_blocks,
    prompt_blocks,
    tokens,
)
from dragoman.model import tools
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    BaseMessage,
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
from dragoman.model.usage import NOTHING, Usage

DEFAULT: Final[frozenset[Include]] = frozenset()
"""What is included without being asked for."""

_TASK_STATUS: Final = {"completed": "completed", "failed": "failed", "interrupted": "stopped"}
_COMMON: Final = frozenset(BaseMessage.__struct_fields__)

_encoder = msgspec.json.Encoder()


class _AssistantMessage(msgspec.Struct, tag="message"):
    id: str
    role: Literal["assistant"]
    model: str | None
    content: list[Block]
    stop_reason: None = None
    stop_sequence: None = None
    usage: Tokens = Tokens()


class _AssistantLine(msgspec.Struct, tag="assistant"):
    message: _AssistantMessage
    parent_tool_use_id: str | None
    session_id: str | None
    uuid: str
    timestamp: datetime | msgspec.UnsetType


class _UserMessage(msgspec.Struct):
    role: Literal["user"]
    content: list[Block]


class _UserLine(msgspec.Struct, tag="user"):
    message: _UserMessage
    parent_tool_use_id: str | None
    session_id: str | None
    uuid: str
    timestamp: datetime | msgspec.UnsetType


@dataclass(slots=True)
class _Session:
    """What has to be remembered of a session from one message to the next."""

    session_id: str | None
    model: str | None = None
    parent_call_id: str | None = None
    task_call_id: str | None = None
    open_todo_calls: set[str] = field(default_factory=set[str])
    turns: int = 0
    # This turn.
    started_at: datetime | None = None
    last_text: str = ""
    tool_calls: int = 0
    retries: int = 0
    spent: Usage = NOTHING
    # Running totals, as usage reports have them.
    before_turn: Usage | None = None
    total: Usage | None = None
    newest: Usage = NOTHING
    # For ids.
    line: int = -1
    nth: int = 0
    uuid_head: str = ""

    def begin_turn(self, at: datetime | None) -> None:
        self.started_at, self.last_text = at, ""
        self.tool_calls = self.retries = 0
        self.spent, self.before_turn = NOTHING, self.total
        self.open_todo_calls.clear()

    def report(self, usage: UsageReport) -> None:
        if usage.last is not None:
            self.newest = usage.last
        if usage.total is None:
            # Without a running total, the responses have to be added up.
            self.spent += usage.last or NOTHING
            return
        if self.before_turn is None:
            # The total may go back to before this stream began: count from the newest response.
            self.before_turn = usage.total - usage.last if usage.last else NOTHING
        self.total, self.spent = usage.total, usage.total - self.before_turn

    def uuid(self, line: int) -> str:
        """An id for the next line written, made of the session, the source line and a number."""
        if not self.uuid_head:
            digest = sha256((self.session_id or "").encode()).hexdigest()
            self.uuid_head = f"{digest[:8]}-{digest[8:12]}-8{digest[12:15]}-8{digest[15:18]}"
        self.nth = self.nth + 1 if line == self.line else 0
        self.line = line
        return f"{self.uuid_head}-{line:08x}{self.nth:04x}"


class ClaudeExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT
        self._sessions: dict[str | None, _Session] = {}

    def export(self, messages: Iterable[Message]) -> bytes:
        return _encoder.encode_lines([line for each in messages for line in self._lines(each)])

    def finish(self) -> bytes:
        return b""

    def _lines(self, message: Message) -> Sequence[object]:
        session = self._session(message.session_id)
        match message:
            case SessionStarted():
                return (self._init(message, session),)
            case TurnStarted():
                session.begin_turn(message.at)
                return (_system(message, session, "turn_started"),)
            case Prompt():
                return (_user(message, session, *prompt_blocks(message)),)
            case Context(role=role, text=text):
                if "context" not in self._include:
                    return ()
                return (_system(message, session, "context", role=role, content=text),)
            case Text(text=text):
                session.last_text = text
                return (_assistant(message, session, TextBlock(text), message.message_id),)
            case Thinking(text=text):
                return (_assistant(message, session, ThinkingBlock(text)),)
            case ToolCall(call_id=call_id, tool=tool):
                session.tool_calls += 1
                if tool == tools.TASK:
                    session.task_call_id = call_id
                elif tool == tools.TODO_WRITE:
                    session.open_todo_calls.add(call_id)
                return (_assistant(message, session, ToolUseBlock(call_id, tool, message.input)),)
            case ToolResult(call_id=call_id):
                session.open_todo_calls.discard(call_id)
                block = ToolResultBlock(call_id, message.output, message.is_error)
                return (_user(message, session, block),)
            case Plan():
                if session.open_todo_calls:
                    return ()
                call, result = plan_blocks(message)
                return (_assistant(message, session, call), _user(message, session, result))
            case Delta():
                return self._delta(message, session)
            case ApprovalRequested() | ApprovalSettled():
                subtype = type_of(type(message))
                return (_system(message, session, subtype, **_own_fields(message)),)
            case Notice():
                return (_notice(message, session),)
            case Compacted():
                metadata = {"trigger": "auto", "pre_tokens": session.newest.total_tokens}
                line = _system(message, session, "compact_boundary", compact_metadata=metadata)
                if message.summary is not None:
                    line["summary"] = message.summary
                return (line,)
            case TurnEnded():
                session.turns += 1
                end = _task_notification if session.parent_call_id else _result
                line = end(message, session)
                session.begin_turn(None)
                return (line,)
            case Unknown(raw=raw):
                if "raw" not in self._include:
                    return ()
                # A line break between the tokens of JSON means no more than a space.
                return (msgspec.Raw(raw.replace("\n", " ").encode("utf-8", "replace")),)
            case Malformed(raw=raw, problem=problem):
                line = {"type": "raw", "raw": raw, "problem": problem}
                return (line,) if "raw" in self._include else ()
            case UsageReport():
                session.report(message)
                return ()
            case Diff() | RateLimits() | SessionEnded():
                return ()

    def _session(self, session_id: str | None) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _Session(session_id)
        return session

    def _init(self, message: SessionStarted, session: _Session) -> object:
        session.model = message.model or session.model
        if session.parent_call_id is None and message.parent_session_id is not None:
            parent = self._sessions.get(message.parent_session_id)
            session.parent_call_id = parent.task_call_id if parent else None
        return _system(
            message,
            session,
            "init",
            cwd=message.cwd,
            tools=[],
            mcp_servers=[],
            model=message.model,
            permissionMode="default",
            apiKeySource="none",
        )

    def _delta(self, message: Delta, session: _Session) -> Sequence[object]:
        if "deltas" not in self._include:
            return ()
        match message.of:
            case "text":
                delta = {"type": "text_delta", "text": message.text}
            case "thinking":
                delta = {"type": "thinking_delta", "thinking": message.text}
            case "output" | "plan":
                return ()
        line = {
            "type": "stream_event",
            "event": {"type": "content_block_delta", "index": 0, "delta": delta},
            "session_id": session.session_id,
            "parent_tool_use_id": session.parent_call_id,
            "uuid": session.uuid(message.line),
        }
        return (line,)


def _assistant(
    message: Message, session: _Session, block: Block, message_id: str | None = None
) -> object:
    own_id = message_id or f"msg_{session.session_id or 'session'}_{message.line}"
    said = _AssistantMessage(own_id, "assistant", session.model, [block])
    return _AssistantLine(said, *_about(message, session))


def _user(message: Message, session: _Session, *blocks: Block) -> object:
    return _UserLine(_UserMessage("user", [*blocks]), *_about(message, session))


def _about(
    message: Message, session: _Session
) -> tuple[str | None, str | None, str, datetime | msgspec.UnsetType]:
    return (
        session.parent_call_id,
        session.session_id,
        session.uuid(message.line),
        message.at or msgspec.UNSET,
    )


def _system(
    message: Message, session: _Session, subtype: str, **fields: object
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


def _own_fields(message: Message) -> dict[str, object]:
    names = (name for name in message.__struct_fields__ if name not in _COMMON)
    return {name: getattr(message, name) for name in names}


def _notice(message: Notice, session: _Session) -> object:
    if not message.will_retry:
        fields = {"level": message.level, "content": message.text}
        return _system(message, session, "informational", **fields)
    session.retries += 1
    return _system(
        message,
        session,
        "api_retry",
        attempt=session.retries,
        max_retries=None,
        retry_delay_ms=None,
        error_status=None,
        error=message.text,
    )


def _result(message: TurnEnded, session: _Session) -> object:
    failed = message.outcome != "completed"
    line: dict[str, object] = {
        "type": "result",
        "subtype": "error_during_execution" if failed else "success",
        "is_error": failed,
        "duration_ms": _duration_ms(message, session),
        "duration_api_ms": 0,
        "num_turns": session.turns,
        "result": message.error.message if message.error else session.last_text,
        "session_id": session.session_id,
        "total_cost_usd": 0,
        "usage": tokens(message.usage or session.spent),
        "permission_denials": [],
        "uuid": session.uuid(message.line),
    }
    if failed:
        line["errors"] = [message.error.message if message.error else message.outcome]
    return line


def _task_notification(message: TurnEnded, session: _Session) -> object:
    usage = message.usage or session.spent
    return _system(
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
            "duration_ms": _duration_ms(message, session),
        },
    )


def _duration_ms(message: TurnEnded, session: _Session) -> int:
    if message.at is None or session.started_at is None:
        return 0
    return max(0, round((message.at - session.started_at).total_seconds() * 1000))
