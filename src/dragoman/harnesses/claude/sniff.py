"""Telling Claude Code's dialects apart, and from those of programs that use the same shapes.

Qwen Code prints the same lines; its ``init`` names its own version. A line is claimed by what only Claude writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str

STREAM: Final = "claude-stream-json"
TRANSCRIPT: Final = "claude-transcript"

_BOOKKEEPING: Final = frozenset(
    ("queue-operation", "last-prompt", "cost-state", "atis-latch", "api-request", "custom-title",
     "api-request-shape", "api-request-blob", "tools-used", "file-history-snapshot", "agent-name")
)  # fmt: skip
_ROW_KEYS: Final = frozenset(("parentUuid", "sessionId", "isSidechain"))
_ROWS: Final = frozenset(("user", "assistant", "attachment", "system"))
_OURS: Final = frozenset(
    ("api_retry", "compact_boundary", "permission_denied", "session_state_changed",
     "session_title_changed", "thinking_tokens", "ui_invalidate")
)  # fmt: skip


def sniff(lines: Sequence[bytes]) -> str | None:
    """The dialect of a stream that starts with these lines; None while no line is decisive."""
    for line in lines:
        try:
            value = as_dict(jsonl.loads(line))
        except jsonl.NotJson:
            continue
        if "dir" in value:
            value = _inside(value)
        found = _dialect(value)
        if found is not None:
            return found or None
    return None


def settle(lines: Sequence[bytes]) -> str | None:
    """The dialect of a whole stream in which no line was decisive; None if it is none of ours."""
    for line in lines:
        try:
            value = as_dict(jsonl.loads(line))
        except jsonl.NotJson:
            continue
        if value.get("dir") == "meta":
            return STREAM if _is_our_command(value) else None
    return None


def _inside(wrapper: dict[str, Any]) -> dict[str, Any]:
    if isinstance(wrapper.get("msg"), dict):
        return as_dict(wrapper["msg"])
    try:
        return as_dict(jsonl.loads((as_str(wrapper.get("raw")) or "").encode()))
    except jsonl.NotJson:
        return {}


def _is_our_command(meta: dict[str, Any]) -> bool:
    """Whether a recording's first row names this program and this output."""
    command = as_list(meta.get("cmd")) or as_list(as_dict(meta.get("msg")).get("cmd"))
    words = [str(word) for word in command]
    return bool(words) and words[0].rsplit("/", 1)[-1] == "claude" and "-p" in words


def _dialect(line: dict[str, Any]) -> str | None:
    """The dialect that a line decides for; an empty name if it decides against both."""
    kind = as_str(line.get("type"))
    if kind is None:
        return None
    if kind in _BOOKKEEPING:
        return TRANSCRIPT if "sessionId" in line else None
    if line.keys() >= _ROW_KEYS and kind in _ROWS:
        return TRANSCRIPT if "userType" in line else None
    match kind:
        case "system":
            return _of_system(line)
        case "stream_event":
            return STREAM if "api_message_id" in line else None
        case "assistant":
            return STREAM if "request_id" in line and "session_id" in line else None
        case "result":
            return STREAM if "total_cost_usd" in line and "session_id" in line else None
        case "command_lifecycle" | "transcript_mirror":
            return STREAM if "session_id" in line or "filePath" in line else None
        case _:
            return None


def _of_system(line: dict[str, Any]) -> str | None:
    if as_str(line.get("subtype")) in _OURS:
        return STREAM if "session_id" in line else None
    if line.get("subtype") != "init":
        return None
    if "qwen_code_version" in line:
        return ""
    return STREAM if "permissionMode" in line or "claude_code_version" in line else None
