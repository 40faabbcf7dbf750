"""Copilot's tools by the names and inputs that messages use."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from dragoman.harnesses.copilot.patches import changes_in, edit_name
from dragoman.model import tools
from dragoman.model.messages import ResultStatus
from dragoman.wire.loose import as_dict, as_int, as_list, as_str

_NAMES: Final = {
    "bash": tools.BASH,
    "powershell": tools.BASH,
    "read_bash": tools.BASH_OUTPUT,
    "write_bash": tools.BASH_OUTPUT,
    "read_powershell": tools.BASH_OUTPUT,
    "write_powershell": tools.BASH_OUTPUT,
    "stop_bash": tools.KILL_SHELL,
    "stop_powershell": tools.KILL_SHELL,
    "view": tools.READ,
    "create": tools.WRITE,
    "edit": tools.EDIT,
    "str_replace_editor": tools.EDIT,
    "apply_patch": tools.EDIT,
    "glob": tools.GLOB,
    "grep": tools.GREP,
    "rg": tools.GREP,
    "task": tools.TASK,
    "read_agent": tools.TASK_OUTPUT,
    "list_agents": tools.TASK_OUTPUT,
    "write_agent": tools.SEND_MESSAGE,
    "skill": tools.SKILL,
    "ask_user": tools.ASK_USER,
    "web_fetch": tools.WEB_FETCH,
    "web_search": tools.WEB_SEARCH,
    "update_todo": tools.TODO_WRITE,
    "tool_search": tools.TOOL_SEARCH,
    "exit_plan_mode": "ExitPlanMode",
}
_KEYS: Final[dict[str, dict[str, str]]] = {
    "view": {"path": "file_path"},
    "create": {"path": "file_path", "file_text": "content"},
    "edit": {"path": "file_path", "old_str": "old_string", "new_str": "new_string"},
    "str_replace_editor": {"path": "file_path", "old_str": "old_string", "new_str": "new_string"},
    "task": {"agent_type": "subagent_type"},
    "skill": {"skill": "skill", "name": "skill"},
    "read_bash": {"shellId": "bash_id"},
    "write_bash": {"shellId": "bash_id"},
    "stop_bash": {"shellId": "shell_id"},
}
EXIT: Final = re.compile(r"\n?<shellId: [^<>\n]* completed with exit code (-?\d{1,9})>\s*\Z")
_TODOS: Final = re.compile(r"\b(?:INSERT|REPLACE|UPDATE|DELETE)\b[^;]*?\btodos\b", re.IGNORECASE)
_DENIED: Final = frozenset(("denied", "rejected"))
_SHELLS: Final = frozenset((tools.BASH, tools.BASH_OUTPUT))


class CopilotCall(NamedTuple):
    """A call in the words of messages."""

    tool: str
    input: dict[str, Any]


class CopilotOutcome(NamedTuple):
    """What became of a call."""

    output: str
    is_error: bool
    exit_code: int | None
    status: ResultStatus


def call_of(
    native: str, arguments: Any, server: str | None, server_tool: str | None
) -> CopilotCall:
    """A call by its native name and arguments; ``server`` is the MCP server of its tool."""
    if server is not None:
        return CopilotCall(tools.mcp_tool(server, server_tool or native), as_dict(arguments))
    if native == "apply_patch":
        return _patch(arguments)
    given = as_dict(arguments)
    if native == "sql" and _TODOS.search(as_str(given.get("query")) or ""):
        return CopilotCall(tools.TODO_WRITE, given)
    keys = _KEYS.get(native, {})
    return CopilotCall(
        _NAMES.get(native, native), {keys.get(key, key): given[key] for key in given}
    )


def _patch(arguments: Any) -> CopilotCall:
    """A patch is a raw string, or in an object under ``input`` or ``patch``."""
    given = as_dict(arguments)
    text = as_str(arguments) or as_str(given.get("input")) or as_str(given.get("patch"))
    if text is None:
        return CopilotCall(tools.EDIT, given)
    changes = changes_in(text)
    return CopilotCall(edit_name(changes), {**given, "patch": text, "changes": changes})


def outcome_of(data: dict[str, Any], tool: str | None) -> CopilotOutcome:
    """The result in ``tool.execution_complete``; ``tool`` is the call's name, if it is known."""
    result, error = as_dict(data.get("result")), as_dict(data.get("error"))
    output = as_str(result.get("content"))
    if output is None:
        output = _text(result.get("contents")) or as_str(error.get("message")) or ""
    code = as_int(as_dict(data.get("shellExecution")).get("exitCode"))
    if tool is None or tool in _SHELLS or code is not None:
        found = EXIT.search(output)
        if found is not None:
            output = output[: found.start()]
            code = int(found[1]) if code is None else code
    if code is None:
        codes = [as_int(as_dict(each).get("exitCode")) for each in as_list(result.get("contents"))]
        code = next((each for each in codes if each is not None), None)
    failed = data.get("success") is not True
    if failed and as_str(error.get("code")) in _DENIED:
        return CopilotOutcome(output, is_error=True, exit_code=code, status="declined")
    is_error = failed or code not in (None, 0)
    return CopilotOutcome(output, is_error, code, "failed" if is_error else "completed")


def _text(contents: Any) -> str:
    texts = [as_str(as_dict(each).get("text")) for each in as_list(contents)]
    return "\n".join(text for text in texts if text)
