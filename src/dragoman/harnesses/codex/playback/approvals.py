"""What the agent asked in a recording, asked again as the app-server asks.

The names of the requests are those of :mod:`app_server_requests`, which reads them.
"""

from __future__ import annotations

import shlex
from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.model.messages import ApprovalRequested

CANCELLING: Final = frozenset(("cancel", "abort"))
_WORDS: Final = {"allow": "accept", "allow_for_session": "acceptForSession", "deny": "decline"}


def ask_of(asked: ApprovalRequested) -> tuple[str, dict[str, Any]]:
    """The method and the parameters, without the place in the conversation."""
    detail = asked.detail
    reason = as_str(detail.get("reason"))
    match asked.kind:
        case "command":
            command = as_str(detail.get("command")) or asked.summary
            return "item/commandExecution/requestApproval", {
                "kind": "command",
                "approvalId": None,
                "environmentId": "local",
                "reason": reason,
                "command": shlex.join(["/bin/bash", "-lc", command]),
                "cwd": as_str(detail.get("cwd")),
                "commandActions": [{"type": "unknown", "command": command}],
                "availableDecisions": [_WORDS.get(choice, choice) for choice in asked.choices
                                       if choice in _WORDS or choice == "cancel"],
            }  # fmt: skip
        case "edit":
            return "item/fileChange/requestApproval", {"reason": reason, "grantRoot": None}
        case "permissions":
            permissions = as_dict(detail.get("permissions"))
            return "item/permissions/requestApproval", {
                "environmentId": "local",
                "cwd": as_str(detail.get("cwd")) or "/",
                "reason": reason,
                "permissions": permissions,
            }
        case "question":
            return "item/tool/requestUserInput", {
                "questions": [as_dict(each) for each in as_list(detail.get("questions"))],
                "autoResolutionMs": None,
            }
        case "elicitation" | "tool":
            is_tool = asked.kind == "tool"
            meta = {
                "codex_approval_kind": "mcp_tool_call",
                "tool_params": detail.get("arguments"),
            }
            return "mcpServer/elicitation/request", {
                "serverName": as_str(detail.get("server")) or "",
                "mode": "form",
                "message": asked.summary,
                "requestedSchema": {"type": "object", "properties": {}},
                "_meta": meta if is_tool else None,
            }


def is_cancelled(result: Any) -> bool:
    """Whether the client's answer means that the turn is to be stopped."""
    given = as_dict(result)
    return given.get("decision", given.get("action")) in CANCELLING
