"""Telling the dialects apart by their first lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dragoman.harnesses.codex.loose import as_dict, as_str
from dragoman.harnesses.codex.response_shapes import ResponseItem
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
_BARE_ITEMS: Final = frozenset(
    str(kind.__struct_config__.tag) for kind in ResponseItem.__subclasses__()
)
_V1: Final = frozenset(
    ("newConversation", "sendUserMessage", "sendUserTurn", "addConversationListener",
     "resumeConversation", "listConversations", "interruptConversation", "sessionConfigured",
     "execCommandApproval", "applyPatchApproval")
)  # fmt: skip
_MCP: Final = frozenset(("tools/call", "tools/list", "elicitation/create", "codex/event"))
_HEADER: Final = frozenset(("workdir", "provider", "sandbox", "approval"))


def sniff(lines: Sequence[bytes]) -> str | None:
    """The dialect of a stream that starts with these lines; None while no line is decisive."""
    for line in lines:
        if line.lstrip().startswith((b"event: response.", b"data: {")):
            return RESPONSES
        try:
            value = jsonl.loads(line)
        except jsonl.NotJson:
            continue
        found = _dialect(as_dict(value), lines)
        if found is not None:
            return found
    return None


def _dialect(line: dict[str, Any], lines: Sequence[bytes]) -> str | None:
    if "dir" in line and isinstance(line.get("msg"), dict):
        line = as_dict(line["msg"])
    method = as_str(line.get("method"))
    if method is not None:
        return _of_method(method, lines)
    kind = as_str(line.get("type"))
    if kind is not None:
        return _of_type(kind, line)
    if "record_type" in line:
        return ROLLOUT_FLAT
    if "op" in line:
        return PROTO
    if isinstance(line.get("msg"), dict):
        return PROTO if as_dict(line["msg"]).get("type") == "session_configured" else EXEC_OLD
    if len(_HEADER & line.keys()) >= 2:
        return EXEC_OLD
    if "id" in line and "timestamp" in line and "result" not in line:
        return ROLLOUT_FLAT
    result = as_dict(line.get("result"))
    if "thread" in result:
        return APP_SERVER
    return APP_SERVER_V1 if "conversationId" in result else None


def _of_method(method: str, lines: Sequence[bytes]) -> str | None:
    if method in _V1:
        return APP_SERVER_V1
    if method.startswith("codex/event/"):
        # Sent by v1, and up to 0.114 beside v2: another line must decide.
        later = b"".join(lines)
        if b'"thread/' in later or b'"turn/' in later or b'"item/' in later:
            return APP_SERVER
        return APP_SERVER_V1 if len(lines) > 3 else None
    if method in _MCP:
        return MCP_SERVER
    if method.startswith(("thread/", "turn/", "item/", "rawResponse")):
        return APP_SERVER
    return None


def _of_type(kind: str, line: dict[str, Any]) -> str | None:
    if kind in _ROWS:
        return ROLLOUT
    if kind.startswith(("thread.", "turn.")):
        return EXEC
    if kind.startswith("item."):
        return EXEC_EXPERIMENTAL if "item_type" in as_dict(line.get("item")) else EXEC
    if kind == "session.created":
        return EXEC_EXPERIMENTAL if "session_id" in line else RESPONSES
    if kind.startswith(("response.", "message.")):
        return RESPONSES
    if kind in _BARE_ITEMS:
        return ROLLOUT_FLAT
    if kind == "error" and isinstance(line.get("message"), str):
        return RESPONSES if "sequence_number" in line else EXEC
    return None
