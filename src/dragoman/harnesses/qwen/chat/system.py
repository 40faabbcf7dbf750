"""``system`` rows: titles, commands of the program itself, compactions, turns that are taken back, and bookkeeping."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dragoman.harnesses.gemini_tools.parts import parts_of
from dragoman.harnesses.qwen.chat.shapes import ChatRow
from dragoman.model.messages import Level
from dragoman.wire.loose import as_dict, as_list, as_str

if TYPE_CHECKING:
    from dragoman.harnesses.qwen.chat.parser import QwenChatParser

CHANNEL: Final = "system"
_BOOKKEEPING: Final = frozenset(
    ("attribution_snapshot", "file_history_snapshot", "branch_checkpoint", "session_source", "parent_session",
     "session_model", "goal_state", "goal_turn_end", "turn_result", "session_artifact_event", "session_artifact_snapshot",
     "session_sources_snapshot", "agent_session_ready", "user_text_elements", "managed_session_header_v1",
     "managed_session_event_v1", "managed_session_commit_v1")
)  # fmt: skip
_LEVELS: Final[dict[str, Level]] = {"error": "error", "warning": "warning"}


def report_system(parser: QwenChatParser, row: ChatRow) -> bool:
    """Report the row; False if its kind is not known."""
    subtype, payload = as_str(row.subtype) or "", as_dict(row.systemPayload)
    if subtype == "ui_telemetry":
        return parser.telemetry.report(parser.session, payload)
    known = _REPORT.get(subtype)
    if known is not None:
        known(parser, row, payload)
    elif subtype in _BOOKKEEPING:
        parser.session.assembler.duplicate("bookkeeping")
    else:
        return False
    return True


def _title(parser: QwenChatParser, row: ChatRow, payload: dict[str, Any]) -> None:
    title = as_str(payload.get("customTitle")) or ""
    if title == parser.title:
        parser.session.assembler.duplicate("title: said before")
        return
    parser.title = title
    parser.session.assembler.notice(CHANNEL, "info", f"title: {title}")


def _slash_command(parser: QwenChatParser, row: ChatRow, payload: dict[str, Any]) -> None:
    assembler = parser.session.assembler
    items = [as_dict(each) for each in as_list(payload.get("outputHistoryItems"))]
    said = [(as_str(each.get("type")) or "info", text) for each in items if (text := _text(each))]
    for kind, text in said:
        assembler.notice(CHANNEL, _LEVELS.get(kind, "info"), text)
    if not said:
        assembler.notice(CHANNEL, "info", as_str(payload.get("rawCommand")) or "a command")


def _text(item: dict[str, Any]) -> str | None:
    return as_str(item.get("text")) or as_str(item.get("message"))


def _compression(parser: QwenChatParser, row: ChatRow, payload: dict[str, Any]) -> None:
    history = [as_dict(each) for each in as_list(payload.get("compressedHistory"))]
    summaries = [parts_of(each.get("parts")).text for each in history]
    summary = next((text for text in summaries if "<state_snapshot>" in text), None)
    parser.session.assembler.compacted(CHANNEL, summary or next(filter(None, summaries), None))


def _rewind(parser: QwenChatParser, row: ChatRow, payload: dict[str, Any]) -> None:
    undone = parser.undone_by(row)
    turns = "turn" if undone == 1 else "turns"
    parser.session.assembler.notice(
        CHANNEL, "info", f"{undone} {turns} taken back", undone_turns=undone
    )


def _task_completed(parser: QwenChatParser, row: ChatRow, payload: dict[str, Any]) -> None:
    text = as_str(payload.get("displayText")) or "a task has ended"
    if (task := as_str(as_dict(payload.get("backgroundTask")).get("taskId"))) is not None:
        parser.tasks.add(task)
    parser.session.assembler.notice("task", "info", text)


def _at_command(parser: QwenChatParser, row: ChatRow, payload: dict[str, Any]) -> None:
    names = [str(each) for each in as_list(payload.get("filesRead"))]
    text = as_str(payload.get("message")) or ", ".join(names) or "files were attached"
    parser.session.assembler.notice(CHANNEL, "info", text)


def _recall(parser: QwenChatParser, row: ChatRow, payload: dict[str, Any]) -> None:
    text = as_str(payload.get("reminder")) or as_str(payload.get("text")) or ""
    parser.session.assembler.context("user", text)


_Report: TypeAlias = "Callable[[QwenChatParser, ChatRow, dict[str, Any]], None]"
_REPORT: Final[dict[str, _Report]] = {
    "custom_title": _title,
    "slash_command": _slash_command,
    "chat_compression": _compression,
    "rewind": _rewind,
    "background_task_completed": _task_completed,
    "at_command": _at_command,
    "omni_recall": _recall,
}
