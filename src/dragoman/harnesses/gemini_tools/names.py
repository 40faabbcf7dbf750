"""Which tool is which: native names, and the names and inputs that messages use.

Gemini CLI and Qwen Code share most of their tools. Inputs keep every native key; those with a counterpart in
Claude's tools are renamed to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dragoman.model.tools import (
    ASK_USER,
    BASH,
    EDIT,
    GLOB,
    GREP,
    LS,
    READ,
    SEND_MESSAGE,
    SKILL,
    TASK,
    TASK_STOP,
    TODO_WRITE,
    TOOL_SEARCH,
    WEB_FETCH,
    WEB_SEARCH,
    WRITE,
    mcp_tool,
)
from dragoman.wire.loose import as_dict, as_int, as_list, as_str

NAMES: Final[Mapping[str, str]] = {
    "run_shell_command": BASH,
    "read_file": READ,
    "write_file": WRITE,
    "replace": EDIT,
    "edit": EDIT,
    "notebook_edit": "NotebookEdit",
    "glob": GLOB,
    "grep_search": GREP,
    "search_file_content": GREP,
    "list_directory": LS,
    "google_web_search": WEB_SEARCH,
    "web_search": WEB_SEARCH,
    "web_fetch": WEB_FETCH,
    "write_todos": TODO_WRITE,
    "todo_write": TODO_WRITE,
    "invoke_agent": TASK,
    "delegate_to_agent": TASK,
    "agent": TASK,
    "task": TASK,
    "task_stop": TASK_STOP,
    "send_message": SEND_MESSAGE,
    "activate_skill": SKILL,
    "skill": SKILL,
    "ask_user": ASK_USER,
    "ask_user_question": ASK_USER,
    "tool_search": TOOL_SEARCH,
    "enter_plan_mode": "EnterPlanMode",
    "exit_plan_mode": "ExitPlanMode",
}
_PATH: Final = {"dir_path": "path"}
_KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    BASH: {"is_background": "run_in_background"},
    READ: {"absolute_path": "file_path", "path": "file_path"},
    EDIT: {"allow_multiple": "replace_all"},
    GLOB: _PATH,
    GREP: {**_PATH, "include_pattern": "glob", "include": "glob"},
    LS: _PATH,
    TASK: {"agent_name": "subagent_type"},
    SKILL: {"name": "skill"},
}
"""Per tool, native keys and the keys that messages use."""
_MCP: Final = "mcp_"
_SHARED_MCP: Final = "mcp__"


def tool_name(native: str) -> str:
    """The name that messages use; a tool without a counterpart keeps its own.

    ``mcp_SERVER_TOOL`` does not say where the server's name ends: it is taken for one word.
    """
    if native.startswith(_SHARED_MCP):
        return native
    if native.startswith(_MCP):
        server, _, tool = native[len(_MCP) :].partition("_")
        return mcp_tool(server, tool) if server and tool else native
    return NAMES.get(native, native)


def tool_input(native: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The input under the keys that messages use."""
    tool = tool_name(native)
    keys = _KEYS.get(tool, {})
    renamed = {_key(keys, key, given): value for key, value in given.items()}
    if tool == TODO_WRITE and isinstance(given.get("todos"), list):
        renamed["todos"] = [_todo(each) for each in as_list(given["todos"])]
    if tool == READ:
        _to_offset(renamed)
    return renamed


def _key(keys: Mapping[str, str], key: str, given: Mapping[str, Any]) -> str:
    """The name of a key; its own if that of the counterpart is taken."""
    name = keys.get(key, key)
    return name if name not in given else key


def _todo(value: Any) -> Any:
    todo = as_dict(value)
    if not todo or "content" in todo or "description" not in todo:
        return value
    return {("content" if key == "description" else key): each for key, each in todo.items()}


def _to_offset(given: dict[str, Any]) -> None:
    """Lines from and to become an offset and a limit."""
    first, last = as_int(given.get("start_line")), as_int(given.get("end_line"))
    if first is None or "offset" in given or "limit" in given:
        return
    del given["start_line"]
    given["offset"] = first
    if last is not None and last >= first:
        del given["end_line"]
        given["limit"] = last - first + 1


def native_of_call(call_id: str) -> str | None:
    """The native tool that a call's id names, as in ``read_file__read_file_1794782284768_0``."""
    native, mark, _ = (as_str(call_id) or "").partition("__")
    return native if mark and native else None
