"""``system`` lines: the session's facts, its state, background work, and what the program itself has to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from dragoman.harnesses.claude.retries import retry_text
from dragoman.harnesses.claude.stream.shapes import System
from dragoman.harnesses.claude.values import level_of
from dragoman.model.messages import ApprovalKind, Level, Outcome, TurnError
from dragoman.wire.loose import as_dict, as_list, as_str

if TYPE_CHECKING:
    from dragoman.harnesses.claude.stream.parser import StreamJsonParser

CHANNEL: Final = "system"
_STATES: Final = frozenset(
    (
        "thinking_tokens",
        "background_tasks_changed",
        "session_state_changed",
        "control_request_progress",
        "hook_started",
        "hook_progress",
        "task_progress",
        "task_summary",
        "turn_duration",
        "files_persisted",
        "post_turn_summary",
        "init_milestone",
        "stop_hook_summary",
    )
)
"""What changes while the agent works, and is said by what comes of it."""
_ENDS: Final[dict[str, Outcome]] = {
    "completed": "completed",
    "failed": "failed",
    "killed": "interrupted",
    "stopped": "interrupted",
    "cancelled": "interrupted",
}
_AGENTS: Final = frozenset(("local_agent", "remote_agent"))


_KINDS: Final[frozenset[ApprovalKind]] = frozenset(
    ("command", "edit", "permissions", "question", "elicitation", "tool")
)


def report_system(parser: StreamJsonParser, line: System) -> bool:
    """Report the line; False if its kind is not known."""
    known = _REPORT.get(line.subtype)
    if known is not None:
        known(parser, line)
    elif line.subtype in _STATES or line.subtype.startswith("ui_"):
        parser.session.assembler.duplicate(f"state: {line.subtype.replace('_', ' ')}")
    elif (text := as_str(line.content) or as_str(line.text)) is not None:
        parser.session.assembler.notice(CHANNEL, level_of(line.level), text)
    else:
        return False
    return True


def _init(parser: StreamJsonParser, line: System) -> None:
    session_id = as_str(line.session_id)
    parser.name_session(session_id, is_init=True)
    session = parser.sessions.main
    session.assembler.begin_session(
        version=as_str(line.claude_code_version) or None,
        model=as_str(line.model) or None,
        cwd=as_str(line.cwd) or None,
    )
    parser.permission_mode = as_str(line.permissionMode) or parser.permission_mode
    parser.turns.begin()


def _status(parser: StreamJsonParser, line: System) -> None:
    mode = as_str(line.permissionMode)
    assembler = parser.session.assembler
    if mode is not None and not assembler.has_facts and not assembler.in_turn:
        # The host sets the session up; init says what came of it.
        parser.permission_mode = mode
        assembler.duplicate("state: status")
    elif mode is not None and mode != parser.permission_mode:
        parser.permission_mode = mode
        assembler.notice(CHANNEL, "info", f"permission mode: {mode}")
    else:
        assembler.duplicate("state: status")


def _api_retry(parser: StreamJsonParser, line: System) -> None:
    text = retry_text(
        as_str(line.error), line.error_status, line.attempt, line.max_retries, line.retry_delay_ms
    )
    parser.session.assembler.notice(CHANNEL, "warning", text, will_retry=True)


def _permission_denied(parser: StreamJsonParser, line: System) -> None:
    reason = as_str(line.decision_reason) or as_str(line.message) or ""
    text = f"permission denied: {as_str(line.tool_name) or 'a tool'}"
    parser.session.assembler.notice(CHANNEL, "warning", f"{text}: {reason}" if reason else text)


def _compact_boundary(parser: StreamJsonParser, line: System) -> None:
    parser.compactions.boundary(parser.session)
    parser.is_holding = True
    if (summary := as_str(line.summary)) is not None:
        parser.compactions.summary(summary)


def _turn_started(parser: StreamJsonParser, line: System) -> None:
    """What ``dragoman convert --to claude`` writes at the beginning of each turn."""
    session = parser.session
    if session is not parser.sessions.main:
        session.ensure_turn()
    elif not session.assembler.in_turn or session.assembler.agent_spoke:
        parser.turns.begin()
    session.assembler.duplicate("turn: it began before")


def _context(parser: StreamJsonParser, line: System) -> None:
    content = as_str(line.content) or as_str(line.text) or ""
    parser.session.assembler.context(as_str(line.role) or "system", content)


def _approval_requested(parser: StreamJsonParser, line: System) -> None:
    parser.session.assembler.ask(
        as_str(line.approval_id) or "",
        line.kind if isinstance(line.kind, str) and line.kind in _KINDS else "tool",
        tool=as_str(line.tool),
        summary=as_str(line.summary) or "",
        detail=as_dict(line.detail),
        choices=[str(each) for each in as_list(line.choices)],
        command=as_str(line.command),
        cwd=as_str(line.cwd),
    )


def _approval_settled(parser: StreamJsonParser, line: System) -> None:
    approval_id, decision = as_str(line.approval_id) or "", as_str(line.decision) or ""
    parser.session.assembler.settle(approval_id, decision, as_dict(line.detail))


def _title(parser: StreamJsonParser, line: System) -> None:
    parser.session.assembler.notice(CHANNEL, "info", f"title: {as_str(line.title) or ''}")


def _hook_response(parser: StreamJsonParser, line: System) -> None:
    output, name = as_str(line.output) or "", as_str(line.hook_name) or "hook"
    failed = as_str(line.outcome) not in (None, "success")
    if not output.strip() and not failed:
        parser.session.assembler.duplicate("hook: it said nothing")
        return
    text = f"{name}: {output.strip() or as_str(line.outcome) or ''}"
    parser.session.assembler.notice(CHANNEL, "warning" if failed else "info", text)


def _task_started(parser: StreamJsonParser, line: System) -> None:
    if as_str(line.task_type) not in _AGENTS:
        parser.session.assembler.duplicate("task: its call began it")
        return
    agent = parser.sessions.agent(as_str(line.task_id), as_str(line.tool_use_id))
    agent.ensure_turn()
    if (prompt := as_str(line.prompt)) is not None:
        agent.assembler.prompt("task", prompt)


def _task_updated(parser: StreamJsonParser, line: System) -> None:
    status = as_str(as_dict(line.patch).get("status"))
    agent = parser.sessions.known_agent(as_str(line.task_id))
    if agent is None or status not in _ENDS:
        parser.session.assembler.duplicate("task: a notification carries it")
        return
    parser.awaited_ends[agent.session_id or ""] = status
    agent.assembler.duplicate("task: a notification carries it")


def _task_notification(parser: StreamJsonParser, line: System) -> None:
    status = as_str(line.status) or "completed"
    summary = as_str(line.summary) or ""
    agent = parser.sessions.known_agent(as_str(line.task_id))
    if agent is None:
        level: Level = "info" if status == "completed" else "warning"
        parser.session.assembler.notice(CHANNEL, level, summary or f"task {status}")
        return
    parser.awaited_ends.pop(agent.session_id or "", None)
    end_agent(parser, as_str(line.task_id), status, summary)


def end_agent(parser: StreamJsonParser, task_id: str | None, status: str, summary: str) -> None:
    """A sub-agent's turn is over."""
    agent = parser.sessions.known_agent(task_id)
    if agent is None:
        return
    if not agent.assembler.in_turn:
        agent.assembler.duplicate("turn: ended before")
        return
    outcome = _ENDS.get(status, "completed")
    error = None
    if outcome == "completed" and summary:
        agent.assembler.text("summary", summary)
    elif outcome == "failed":
        error = TurnError("turn_failed", summary or "the sub-agent failed", False)
    agent.end_turn(outcome, error)


_Report: TypeAlias = "Callable[[StreamJsonParser, System], None]"
_REPORT: Final[dict[str, _Report]] = {
    "init": _init,
    "status": _status,
    "api_retry": _api_retry,
    "permission_denied": _permission_denied,
    "compact_boundary": _compact_boundary,
    "session_title_changed": _title,
    "hook_response": _hook_response,
    "task_started": _task_started,
    "task_updated": _task_updated,
    "task_notification": _task_notification,
    "turn_started": _turn_started,
    "context": _context,
    "approval_requested": _approval_requested,
    "approval_settled": _approval_settled,
}
