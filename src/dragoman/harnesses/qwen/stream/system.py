"""``system`` lines: the session's facts, sub-agents at work, and what the program itself has to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dragoman.harnesses.qwen.failures import TURN_FAILED
from dragoman.harnesses.qwen.session import QwenSession
from dragoman.harnesses.qwen.stream.shapes import System
from dragoman.model.messages import Outcome, TurnError
from dragoman.wire.loose import as_dict, as_int, as_number, as_str

if TYPE_CHECKING:
    from dragoman.harnesses.qwen.stream.parser import QwenStreamParser

CHANNEL: Final = "system"
_ENDS: Final[dict[str, Outcome]] = {
    "completed": "completed",
    "failed": "failed",
    "cancelled": "interrupted",
    "killed": "interrupted",
}
_STATES: Final = frozenset(("session_start", "session_end"))


def report_system(parser: QwenStreamParser, line: System) -> bool:
    """Report the line; False if its kind is not known."""
    data = as_dict(line.data)
    known = _REPORT.get(line.subtype)
    if known is not None:
        known(parser, line, data)
    elif line.subtype in _STATES:
        parser.session.assembler.duplicate(f"state: {line.subtype.replace('_', ' ')}")
    elif (text := as_str(data.get("notice"))) is not None:
        parser.session.assembler.notice(CHANNEL, "info", text)
    elif (text := _complaint(data)) is not None:
        parser.session.assembler.notice(CHANNEL, "warning", text)
    else:
        return False
    return True


def _complaint(data: dict[str, Any]) -> str | None:
    error = data.get("error")
    return as_str(error) or as_str(as_dict(error).get("message")) or as_str(data.get("message"))


def _init(parser: QwenStreamParser, line: System, data: dict[str, Any]) -> None:
    parser.name_session(as_str(line.session_id), is_init=True)
    main = parser.sessions.main
    main.assembler.begin_session(
        version=as_str(line.qwen_code_version) or None,
        model=as_str(line.model) or None,
        cwd=as_str(line.cwd) or None,
    )
    mode, before = as_str(line.permission_mode), parser.permission_mode
    parser.permission_mode = mode or before
    parser.begin_turn()
    if mode is not None and before not in (None, mode):
        main.assembler.notice(CHANNEL, "info", f"permission mode: {mode}")


def _retry(parser: QwenStreamParser, line: System, data: dict[str, Any]) -> None:
    delay = as_number(data.get("delayMs"))
    after = f" in {delay / 1000:.1f} s" if delay is not None else ""
    attempt, most = as_int(data.get("attempt")), as_int(data.get("maxRetries"))
    number = f"attempt {attempt or '?'} of {most or '?'}" if attempt or most else "another attempt"
    text = f"the request failed: {number} follows{after}"
    parser.session.assembler.notice(CHANNEL, "warning", text, will_retry=True)


def _model_fallback(parser: QwenStreamParser, line: System, data: dict[str, Any]) -> None:
    code = as_int(data.get("statusCode"))
    why = f" (HTTP {code})" if code is not None else ""
    names = [as_str(data.get(name)) or "?" for name in ("fromModel", "toModel")]
    text = f"{names[0]} could not be used{why}: continuing with {names[1]}"
    parser.session.assembler.notice(CHANNEL, "warning", text)


def _worktree(parser: QwenStreamParser, line: System, data: dict[str, Any]) -> None:
    where = as_str(data.get("path")) or as_str(data.get("slug")) or ""
    branch = as_str(data.get("branch"))
    more = f" on branch {branch}" if branch else ""
    slug = as_str(data.get("slug"))
    named = f" ({slug})" if slug and slug != where else ""
    parser.session.assembler.notice(CHANNEL, "info", f"worktree: {where}{named}{more}")


def _task_started(parser: QwenStreamParser, line: System, data: dict[str, Any]) -> None:
    if as_str(data.get("subagent_type")) is None:
        parser.session.assembler.duplicate("task: its call began it")
        return
    agent = parser.sessions.agent(as_str(data.get("task_id")), as_str(data.get("tool_use_id")))
    agent.ensure_turn()
    agent.assembler.duplicate("task: its call began it")


def _task_notification(parser: QwenStreamParser, line: System, data: dict[str, Any]) -> None:
    agent = parser.sessions.known_agent(as_str(data.get("task_id")))
    if agent is None:
        parser.session.assembler.duplicate("task: a notification carries it")
    else:
        end_agent(agent, as_str(data.get("status")) or "completed")


def end_agent(agent: QwenSession, status: str, said: str = "") -> None:
    """A sub-agent's turn is over; what it said last, if that is known."""
    if not agent.assembler.in_turn:
        agent.assembler.duplicate("turn: ended before")
        return
    outcome = _ENDS.get(status, "completed")
    error = None
    if outcome == "completed" and said:
        agent.assembler.text("answer", said)
    elif outcome == "failed":
        error = TurnError(TURN_FAILED, said or "the sub-agent failed", retryable=False)
    agent.end_turn(outcome, error)


_Report: TypeAlias = "Callable[[QwenStreamParser, System, dict[str, Any]], None]"
_REPORT: Final[dict[str, _Report]] = {
    "init": _init,
    "retry": _retry,
    "model_fallback": _model_fallback,
    "worktree_restored": _worktree,
    "task_started": _task_started,
    "task_notification": _task_notification,
}
