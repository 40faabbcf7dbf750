"""The lines Claude Code writes with ``--output-format stream-json``, for programs that read those.

==================  ===========================================================================
message             line
==================  ===========================================================================
session_started     ``system`` / ``init``; in a sub-agent ``system`` / ``task_started``, once,
                    because readers take an ``init`` for the session that they follow
turn_started        ``system`` / ``turn_started``
prompt              ``user`` with a text block and image blocks
context             ``system`` / ``context``, if included
text                ``assistant`` with a text block
thinking            ``assistant`` with a thinking block
tool_call           ``assistant`` with a tool_use block
tool_result         ``user`` with a tool_result block
plan                a TodoWrite tool_use and its tool_result; nothing while a TodoWrite call is
                    open, because that call has it
delta               ``stream_event`` / ``content_block_delta`` for text and thinking, if included
approval_requested  ``system`` / ``approval_requested``, never a ``control_request``: that would
                    wait for an answer that cannot be given
approval_settled    ``system`` / ``approval_settled``
notice              ``system`` / ``api_retry`` for a retry, else ``system`` / ``informational``
compacted           ``system`` / ``compact_boundary``
turn_ended          ``result``; in a sub-agent ``system`` / ``task_notification``, because readers
                    take the first ``result`` for the end of the whole turn
unknown, malformed  the line unchanged; ``raw``, if included
usage               nothing now; fills the next ``result`` if ``turn_ended`` has no usage
diff, rate_limits,  nothing
session_ended
==================  ===========================================================================

The lines of a sub-agent keep their own ``session_id`` and carry, as ``parent_tool_use_id``, the
newest Task call of the session that started it. Claude's ``input_tokens`` leave out what was read
from or written to the cache; ours do not. The usage of an ``assistant`` line is always zero: the cost
of a single message is not known when it is emitted. Ids come from the session and the source line, so
the same source always gives the same ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from dragoman.export.base import Include, Options
from dragoman.export.blocks import (
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    plan_blocks,
    prompt_blocks,
    todo_input,
)
from dragoman.export.claude import lines
from dragoman.export.claude.session import ExportedSession
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

_encoder = msgspec.json.Encoder()


class ClaudeExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        self._include = options.include | DEFAULT
        self._sessions: dict[str | None, ExportedSession] = {}

    def export(self, messages: Iterable[Message]) -> bytes:
        return _encoder.encode_lines([line for each in messages for line in self._lines(each)])

    def finish(self) -> bytes:
        return b""

    def _lines(self, message: Message) -> Sequence[object]:
        session = self._session(message.session_id)
        match message:
            case SessionStarted():
                return self._session_started(message, session)
            case TurnStarted():
                session.begin_turn(message.at)
                return (lines.system(message, session, "turn_started"),)
            case Prompt():
                return (lines.user(message, session, *prompt_blocks(message)),)
            case Context(role=role, text=text):
                if "context" not in self._include:
                    return ()
                return (lines.system(message, session, "context", role=role, content=text),)
            case Text(text=text):
                session.last_text = text
                return (lines.assistant(message, session, TextBlock(text), message.message_id),)
            case Thinking(text=text):
                return (lines.assistant(message, session, ThinkingBlock(text)),)
            case ToolCall(call_id=call_id, tool=tool):
                session.tool_calls += 1
                if tool == tools.TASK:
                    session.newest_task = message
                is_plan = tool == tools.TODO_WRITE
                if is_plan:
                    session.open_todo_calls.add(call_id)
                given = todo_input(message.input) if is_plan else message.input
                block = ToolUseBlock(call_id, tool, given)
                return (lines.assistant(message, session, block),)
            case ToolResult(call_id=call_id):
                session.open_todo_calls.discard(call_id)
                block = ToolResultBlock(call_id, message.output, message.is_error)
                return (lines.user(message, session, block),)
            case Plan():
                if session.open_todo_calls:
                    return ()
                call, result = plan_blocks(message)
                return (
                    lines.assistant(message, session, call),
                    lines.user(message, session, result),
                )
            case Delta():
                return self._delta(message, session)
            case ApprovalRequested() | ApprovalSettled():
                return (lines.approval(message, session),)
            case Notice():
                return (lines.notice(message, session),)
            case Compacted():
                return (lines.compact_boundary(message, session),)
            case TurnEnded():
                session.turns += 1
                end = lines.task_notification if session.parent_call_id else lines.result
                line = end(message, session)
                session.begin_turn(None)
                return (line,)
            case Unknown(raw=raw):
                if "raw" not in self._include:
                    return ()
                return (lines.raw(raw),)
            case Malformed(raw=raw, problem=problem):
                line = {"type": "raw", "raw": raw, "problem": problem}
                return (line,) if "raw" in self._include else ()
            case UsageReport():
                session.report(message)
                return ()
            case Diff() | RateLimits() | SessionEnded():
                return ()

    def _session(self, session_id: str | None) -> ExportedSession:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = ExportedSession(session_id or "")
        return session

    def _session_started(
        self, message: SessionStarted, session: ExportedSession
    ) -> Sequence[object]:
        session.model = message.model or session.model
        if session.parent_call_id is not None:
            return ()
        parent = self._sessions.get(message.parent_session_id)
        if message.parent_session_id is None or parent is None or parent.newest_task is None:
            return (lines.init(message, session),)
        session.parent_call_id = parent.newest_task.call_id
        return (lines.task_started(message, session, parent.newest_task),)

    def _delta(self, message: Delta, session: ExportedSession) -> Sequence[object]:
        if "deltas" not in self._include:
            return ()
        match message.of:
            case "text":
                piece = {"type": "text_delta", "text": message.text}
            case "thinking":
                piece = {"type": "thinking_delta", "thinking": message.text}
            case "output" | "plan":
                return ()
        return (lines.delta(message, session, piece),)
