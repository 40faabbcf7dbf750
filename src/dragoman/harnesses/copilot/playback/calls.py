"""Calls under the names and inputs of Copilot's own tools."""

from __future__ import annotations

from typing import Any, Final

from dragoman.model import tools
from dragoman.model.messages import ToolCall

_NATIVE: Final = {
    tools.BASH: "bash",
    tools.BASH_OUTPUT: "read_bash",
    tools.KILL_SHELL: "stop_bash",
    tools.READ: "view",
    tools.WRITE: "create",
    tools.EDIT: "edit",
    tools.GLOB: "glob",
    tools.GREP: "grep",
    tools.TASK: "task",
    tools.SKILL: "skill",
    tools.ASK_USER: "ask_user",
    tools.WEB_FETCH: "web_fetch",
    tools.WEB_SEARCH: "web_search",
}
_KEYS: Final[dict[str, dict[str, str]]] = {
    "view": {"file_path": "path"},
    "create": {"file_path": "path", "content": "file_text"},
    "edit": {"file_path": "path", "old_string": "old_str", "new_string": "new_str"},
    "task": {"subagent_type": "agent_type"},
    "read_bash": {"bash_id": "shellId"},
    "stop_bash": {"shell_id": "shellId"},
}
_MCP: Final = "mcp__"


def request_of(call: ToolCall) -> dict[str, Any]:
    """A call as a model's message asks for it."""
    request: dict[str, Any] = {"toolCallId": call.call_id}
    if call.tool.startswith(_MCP):
        server, _, tool = call.tool.removeprefix(_MCP).partition("__")
        names = {"mcpServerName": server, "mcpToolName": tool}
        return {**request, "name": f"{server}-{tool}", "arguments": call.input, **names}
    native = _NATIVE.get(call.tool, call.native_tool or call.tool)
    if call.tool in (tools.EDIT, tools.WRITE) and "file_path" not in call.input:
        native = "apply_patch"
    keys = _KEYS.get(native, {})
    given = {keys.get(key, key): value for key, value in call.input.items()}
    return {**request, "name": native, "arguments": given}
