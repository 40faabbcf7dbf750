"""Telling Gemini CLI's dialects apart, and from those of programs that use similar lines.

Other programs print ``init``, ``message`` and ``result`` lines as well. A line is claimed only if all keys are there
that Gemini writes together and no one else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dragoman.harnesses.acp.sniff import sniff_acp
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str

STREAM: Final = "gemini-stream"
CHAT: Final = "gemini-chat"
ACP: Final = "gemini-acp"

_ROLES: Final = frozenset(("user", "assistant"))
_STATUSES: Final = frozenset(("success", "error"))
_ROW_TYPES: Final = frozenset(("user", "gemini"))
_NOT_IN_A_ROW: Final = frozenset(("uuid", "parentUuid", "sessionId", "session_id", "message"))


def sniff(lines: Sequence[bytes]) -> str | None:
    """The dialect of a stream that starts with these lines; None while no line is decisive."""
    for line in lines:
        found = _dialect(_object(line))
        if found is not None:
            return found
    return ACP if sniff_acp(lines, "gemini") else None


def settle(lines: Sequence[bytes]) -> str | None:
    """The dialect of a whole stream in which no line was decisive; None if it is none of ours."""
    for line in lines:
        value = _object(line)
        if value.get("dir") == "meta":
            return STREAM if _is_our_command(value) else None
    return None


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = as_dict(jsonl.loads(line))
        if value.get("dir") in ("out", "recv") and "method" not in value:
            inner = value.get("msg", value.get("raw"))
            return as_dict(jsonl.loads(inner.encode()) if isinstance(inner, str) else inner)
    except jsonl.NotJson:
        return {}
    return value


def _is_our_command(meta: dict[str, Any]) -> bool:
    """Whether a recording's first row names this program and this output."""
    words = [str(word) for word in as_list(meta.get("cmd"))]
    names = {word.rsplit("/", 1)[-1] for word in words[:2]}
    return bool(names & {"gemini", "gemini.js"}) and "stream-json" in words


def _dialect(line: dict[str, Any]) -> str | None:
    if as_str(line.get("sessionId")) and as_str(line.get("projectHash")) and "startTime" in line:
        return CHAT
    if isinstance(line.get("$set"), dict):
        return CHAT if _is_patch(as_dict(line["$set"])) else None
    if as_str(line.get("type")) in _ROW_TYPES and "id" in line and "timestamp" in line:
        is_row = "content" in line and not line.keys() & _NOT_IN_A_ROW
        return CHAT if is_row and _has_row_type(line) else None
    return STREAM if "timestamp" in line and _is_event(line) else None


def _is_patch(patch: dict[str, Any]) -> bool:
    if as_list(patch.get("messages")):
        return any(_has_row_type(as_dict(each)) for each in as_list(patch["messages"]))
    return bool(patch.keys() & {"lastUpdated", "memoryScratchpad"})


def _has_row_type(row: dict[str, Any]) -> bool:
    if row.get("type") == "gemini":
        return True
    parts = as_list(row.get("content"))
    return row.get("type") == "user" and bool(parts) and "type" not in as_dict(parts[0])


def _is_event(line: dict[str, Any]) -> bool:
    match line.get("type"):
        case "init":
            return line.keys() == {"type", "timestamp", "session_id", "model"}
        case "message":
            own = line.keys() - {"delta"} == {"type", "timestamp", "role", "content"}
            return own and as_str(line["role"]) in _ROLES and isinstance(line["content"], str)
        case "tool_use":
            return line.keys() >= {"tool_name", "tool_id", "parameters"}
        case "tool_result":
            return "tool_id" in line and as_str(line.get("status")) in _STATUSES
        case "result":
            stats = as_dict(line.get("stats"))
            return (
                as_str(line.get("status")) in _STATUSES
                and "tool_calls" in stats
                and "cached" in stats
            )
        case _:
            return False
