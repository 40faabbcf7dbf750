"""Tells the dialects apart by their first lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.wire import jsonl

EXEC: Final = "codex-exec"
EXEC_EXPERIMENTAL: Final = "codex-exec-experimental"
EXEC_OLD: Final = "codex-exec-old"
PROTO: Final = "codex-proto"
MCP_SERVER: Final = "codex-mcp-server"
APP_SERVER_V1: Final = "codex-app-server-v1"
APP_SERVER: Final = "codex-app-server"
ROLLOUT: Final = "codex-rollout"
ROLLOUT_FLAT: Final = "codex-rollout-flat"
RESPONSES: Final = "codex-responses"

_ROWS: Final = frozenset(
    ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
     "token_usage_record", "retained_context", "inter_agent_communication",
     "inter_agent_communication_metadata")
)  # fmt: skip
_COMMON_WORDS: Final = frozenset(("compacted", "world_state"))
_V1: Final = frozenset(
    ("newConversation", "sendUserMessage", "sendUserTurn", "addConversationListener",
     "resumeConversation", "listConversations", "interruptConversation", "sessionConfigured",
     "execCommandApproval", "applyPatchApproval")
)  # fmt: skip
_FLAT_HEAD: Final = frozenset(("id", "timestamp", "instructions", "git", "model", "cwd"))
_EVENT: Final = re.compile(rb'\s*(?:event: response\.|data: \{\s*"type"\s*:\s*"response\.)')
_HEADER: Final = frozenset(("workdir", "provider", "sandbox", "approval"))


_ROW_START: Final = b'{"timestamp":"'
_ROW_TYPE: Final = b'"type":"session_meta","payload":{'


def is_rollout_header(line: bytes) -> bool:
    """Whether this is the first row of a rollout in its usual form: no need to decode 20 KB."""
    return (
        line.startswith(_ROW_START)
        and line.find(_ROW_TYPE, 30, 110) >= 0
        and line.endswith((b"}\n", b"}"))
    )


def sniff(lines: Sequence[bytes]) -> str | None:
    """The dialect of a stream that starts with these lines; None while no line is decisive."""
    if lines and is_rollout_header(lines[0]):
        return ROLLOUT
    for line in lines:
        if _EVENT.match(line):
            return RESPONSES
        try:
            value = jsonl.loads(line)
        except jsonl.NotJson:
            continue
        found = _dialect(as_dict(value), lines)
        if found is not None:
            return found
    return None


def settle(lines: Sequence[bytes]) -> str | None:
    """The dialect of a whole stream in which no line was decisive; None if it is none of ours."""
    for line in lines:
        try:
            value = as_dict(jsonl.loads(line))
        except jsonl.NotJson:
            continue
        inner = as_dict(value.get("msg")) if "dir" in value else value
        if (as_str(inner.get("method")) or "").startswith("codex/event/"):
            return APP_SERVER_V1  # too short a stream to distinguish v1 from the events beside v2
    return None


def _dialect(line: dict[str, Any], lines: Sequence[bytes]) -> str | None:
    if "dir" in line and isinstance(line.get("msg"), dict):
        line = as_dict(line["msg"])
    method = as_str(line.get("method"))
    if method is not None:
        return _of_method(method, line, lines)
    kind = as_str(line.get("type"))
    if kind is not None:
        return _of_type(kind, line)
    if line.get("record_type") == "state":
        return ROLLOUT_FLAT
    if "id" in line and as_str(as_dict(line.get("op")).get("type")) is not None:
        return PROTO
    if as_str(event := as_dict(line.get("msg")).get("type")) is not None:
        return PROTO if event == "session_configured" else EXEC_OLD
    if len(_HEADER & line.keys()) >= 2:
        return EXEC_OLD
    if "id" in line and "timestamp" in line and line.keys() <= _FLAT_HEAD:
        return ROLLOUT_FLAT
    result = as_dict(line.get("result"))
    if "thread" in result:
        return APP_SERVER
    return APP_SERVER_V1 if "conversationId" in result else None


def _of_method(method: str, line: dict[str, Any], lines: Sequence[bytes]) -> str | None:
    if method in _V1:
        return APP_SERVER_V1
    if method.startswith("codex/event/"):
        # Sent by v1, and up to 0.114 beside v2: another line must decide.
        later = b"".join(lines)
        if b'"thread/' in later or b'"turn/' in later or b'"item/' in later:
            return APP_SERVER
        return APP_SERVER_V1 if len(lines) > 3 else None
    if method == "codex/event":
        return MCP_SERVER
    if method == "tools/call":
        # Any MCP server has tools; these two are what this one is for.
        name = as_str(as_dict(line.get("params")).get("name"))
        return MCP_SERVER if name in ("codex", "codex-reply") else None
    if method.startswith(("thread/", "turn/", "item/", "rawResponse")):
        return APP_SERVER
    return None


def _of_type(kind: str, line: dict[str, Any]) -> str | None:
    if kind in _ROWS:
        return ROLLOUT if "payload" in line or kind not in _COMMON_WORDS else None
    if "properties" in line or "data" in line:
        return None  # the envelopes of other programs, whose events have names like these
    if kind in ("thread.started", "dragoman.run") or kind.startswith("turn."):
        return EXEC
    if kind.startswith("item.") and isinstance(line.get("item"), dict):
        return EXEC_EXPERIMENTAL if "item_type" in as_dict(line["item"]) else EXEC
    if kind == "session.created":
        return EXEC_EXPERIMENTAL if "session_id" in line else RESPONSES
    if kind.startswith(("response.", "message.")):
        return RESPONSES
    if kind in _bare_items():
        return ROLLOUT_FLAT if _is_response_item(kind, line) else None
    if kind == "error" and isinstance(line.get("message"), str):
        if "sequence_number" in line:
            return RESPONSES
        return EXEC if line.keys() <= {"type", "message", "details"} else None
    return None


@cache
def _bare_items() -> frozenset[str]:
    # Imported here: most streams are known by another line.
    from dragoman.harnesses.codex.responses.shapes import ResponseItem

    return frozenset(str(kind.__struct_config__.tag) for kind in ResponseItem.__subclasses__())


def _is_response_item(kind: str, line: dict[str, Any]) -> bool:
    """Whether it is an item of the Responses API, as flat session files have them.

    Other programs have a ``message`` too, with a string for its content.
    """
    match kind:
        case "message":
            parts = as_list(line.get("content"))
            kinds = {as_str(as_dict(part).get("type")) for part in parts}
            return bool(kinds) and kinds <= {"input_text", "output_text", "input_image"}
        case "reasoning":
            return "summary" in line
        case "function_call" | "custom_tool_call":
            return "name" in line and "timestamp" not in line
        case "function_call_output" | "custom_tool_call_output":
            return "call_id" in line and "output" in line
        case _:
            return True
