"""Telling Qwen Code's dialects apart, and from those of programs that use the same shapes.

Its stream has the lines of Claude Code, its chats have rows like Claude's with messages like Gemini's. A line is claimed
by what only Qwen writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str

STREAM: Final = "qwen-stream-json"
CHAT: Final = "qwen-chat"

_ROW_KEYS: Final = frozenset(("uuid", "parentUuid", "sessionId", "timestamp", "type"))
_ROWS: Final = frozenset(("user", "assistant", "tool_result", "system"))
_EVENTS: Final = frozenset(("goal_state",))
_ABILITIES: Final = frozenset(("can_handle_can_use_tool", "can_set_permission_mode"))


def sniff(lines: Sequence[bytes]) -> str | None:
    """The dialect of a stream that starts with these lines; None while no line is decisive."""
    for line in lines:
        found = _dialect(_object(line))
        if found is not None:
            return found
    return None


def settle(lines: Sequence[bytes]) -> str | None:
    """The dialect of a whole stream in which no line was decisive; None if it is none of ours."""
    for line in lines:
        value = _object(line)
        if value.get("dir") == "meta":
            return STREAM if _is_our_command(value) else None
    return None


def _object(line: bytes) -> dict[str, Any]:
    """What is on a line, without the wrapper of a recording or a journal."""
    try:
        value = as_dict(jsonl.loads(line))
        if value.get("dir") in ("in", "out", "recv", "sent") and "method" not in value:
            inner = value.get("msg", value.get("raw"))
            return as_dict(jsonl.loads(inner.encode()) if isinstance(inner, str) else inner)
    except jsonl.NotJson:
        return {}
    return value


def _is_our_command(meta: dict[str, Any]) -> bool:
    """Whether a recording's first row names this program and this output."""
    words = [str(word) for word in as_list(meta.get("cmd"))]
    names = {word.rsplit("/", 1)[-1] for word in words[:1]}
    in_package = any("/qwen-code/" in word for word in words[:2])
    return ("qwen" in names or in_package) and "stream-json" in words


def _dialect(line: dict[str, Any]) -> str | None:
    kind = as_str(line.get("type"))
    if line.keys() >= _ROW_KEYS and kind in _ROWS:
        return CHAT if _is_row(line, kind) else None
    if "session_id" not in line and kind != "control_response":
        return None
    match kind:
        case "system":
            return STREAM if "qwen_code_version" in line or _has_data(line) else None
        case "stream_event":
            event = as_dict(line.get("event"))
            return (
                STREAM
                if as_str(event.get("type")) in _EVENTS and "parent_tool_use_id" in line
                else None
            )
        case "assistant":
            usage = as_dict(as_dict(line.get("message")).get("usage"))
            return STREAM if "total_tokens" in usage and "request_id" not in line else None
        case "result":
            usage = as_dict(line.get("usage"))
            ours = "total_tokens" in usage or "message" in as_dict(line.get("error"))
            return STREAM if ours and "total_cost_usd" not in line else None
        case "control_response":
            answer = as_dict(as_dict(line.get("response")).get("response"))
            abilities = as_dict(answer.get("capabilities")).keys()
            return STREAM if abilities >= _ABILITIES else None
        case _:
            return None


def _has_data(line: dict[str, Any]) -> bool:
    """Whether a system line keeps what it says in ``data``, as only Qwen's do."""
    return isinstance(line.get("data"), dict) and line.keys() <= {
        *("type", "subtype", "uuid", "session_id", "parent_tool_use_id", "data"),
    }


def _is_row(row: dict[str, Any], kind: str | None) -> bool:
    if "userType" in row or "requestId" in row:
        return False  # Claude's
    if kind == "system":
        return "systemPayload" in row
    return isinstance(as_dict(row.get("message")).get("parts"), list)
