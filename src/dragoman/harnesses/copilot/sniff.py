"""Telling Copilot's dialects apart, and from those of programs with similar lines.

All three carry the same events: an envelope of ``type``, ``data``, ``id``, ``timestamp`` and ``parentId``. A file begins
with ``session.start``; output has events that are never stored (``ephemeral``) and ends with ``result``; the server wraps
each event in a JSON-RPC notification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dragoman.wire.envelope import object_on
from dragoman.wire.loose import as_dict, as_list, as_str

OUTPUT: Final = "copilot-json"
EVENTS: Final = "copilot-events"
SERVER: Final = "copilot-server"

_ENVELOPE: Final = frozenset(("type", "data", "id", "timestamp", "parentId"))
_STORED: Final = frozenset(
    ("session.start", "session.resume", "session.shutdown", "session.usage_record",
     "session.usage_checkpoint", "system.message", "permission.requested")
)  # fmt: skip
"""Events that the output of ``-p`` does not have."""
_SHARED: Final = frozenset(
    ("user.message", "assistant.message", "assistant.turn_start", "assistant.turn_end", "abort",
     "tool.execution_start", "tool.execution_complete", "session.error", "subagent.started")
)  # fmt: skip
"""Events that both have: alone, they decide nothing."""
_NOTIFICATIONS: Final = frozenset(("session.event", "session.lifecycle", "host.event"))
_REQUESTS: Final = frozenset(
    ("session.create", "session.resume", "session.send", "session.abort", "session.destroy",
     "session.detach", "runtime.shutdown", "session.permissions.handlePendingPermissionRequest")
)  # fmt: skip


def sniff(lines: Sequence[bytes]) -> str | None:
    """The dialect of a stream that starts with these lines; None while no line is decisive."""
    for line in lines:
        found = _dialect(object_on(line))
        if found is not None:
            return found
    return None


def settle(lines: Sequence[bytes]) -> str | None:
    """The dialect of a whole stream in which no line was decisive; None if it is none of ours."""
    for line in lines:
        value = object_on(line)
        if value.get("dir") == "meta":
            return _of_command(value)
        if as_str(value.get("type")) in _SHARED and value.keys() >= _ENVELOPE:
            return EVENTS
    return None


def _dialect(value: dict[str, Any]) -> str | None:
    if "jsonrpc" in value:
        return SERVER if _is_servers(value) else None
    kind = as_str(value.get("type"))
    if kind is None:
        return None
    if kind == "result":
        return OUTPUT if "premiumRequests" in as_dict(value.get("usage")) else None
    if not value.keys() >= _ENVELOPE or "." not in kind or not isinstance(value["data"], dict):
        return None
    if value.get("ephemeral") is True:
        return OUTPUT
    return EVENTS if kind in _STORED else None


def _is_servers(value: dict[str, Any]) -> bool:
    method = as_str(value.get("method"))
    if method in _NOTIFICATIONS:
        return "sessionId" in as_dict(value.get("params")) or "scope" in as_dict(
            value.get("params")
        )
    if method is not None:
        return method in _REQUESTS
    result = as_dict(value.get("result"))
    return "taskKinds" in result or "nativeSessionId" in result


def _of_command(meta: dict[str, Any]) -> str | None:
    """The dialect of a recording whose first row names this program, from its arguments."""
    command = as_list(meta.get("cmd")) or as_list(as_dict(meta.get("msg")).get("cmd"))
    words = [str(word) for word in command]
    if not words or words[0].rsplit("/", 1)[-1] != "copilot" or "--acp" in words:
        return None
    return SERVER if "--headless" in words else OUTPUT if "-p" in words else None
