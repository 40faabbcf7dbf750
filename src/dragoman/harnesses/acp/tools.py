"""The tools of agents that speak ACP, by the names and inputs that messages use.

A call may name its tool in four places, or in none: then its kind and its input tell which one it is.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from dragoman.harnesses.acp.quirks import AcpQuirks
from dragoman.harnesses.gemini_tools.names import tool_name
from dragoman.model import tools
from dragoman.model.messages import ApprovalKind
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str

_NAMES: Final = {
    name: tool
    for tool, names in {
        tools.BASH: ("bash", "shell", "run_shell_command", "execute", "powershell", "exec_command"),
        tools.BASH_OUTPUT: ("read_bash",),
        tools.KILL_SHELL: ("stop_bash",),
        tools.READ: ("read", "read_file", "view"),
        tools.WRITE: ("write", "write_file", "create"),
        tools.EDIT: ("edit", "replace", "apply_patch", "str_replace"),
        tools.GLOB: ("glob",),
        tools.GREP: ("grep", "grep_search", "rg", "search_file_content"),
        tools.LS: ("ls", "list", "list_directory"),
        tools.WEB_SEARCH: ("websearch", "web_search", "google_web_search"),
        tools.WEB_FETCH: ("webfetch", "web_fetch", "fetch"),
        tools.TODO_WRITE: ("todowrite", "todo_write", "write_todos"),
        tools.TASK: ("task", "agent", "Agent", "invoke_agent"),
        tools.ASK_USER: ("ask_user", "ask_user_question", "question"),
        tools.SKILL: ("skill",),
    }.items()
    for name in names
}
_FILES: Final = {
    "filePath": "file_path",
    "filepath": "file_path",
    "path": "file_path",
    "absolute_path": "file_path",
    "oldString": "old_string",
    "old_str": "old_string",
    "newString": "new_string",
    "new_str": "new_string",
    "file_text": "content",
    "replaceAll": "replace_all",
}
_KEYS: Final[dict[str, dict[str, str]]] = {
    tools.READ: _FILES,
    tools.WRITE: _FILES,
    tools.EDIT: _FILES,
    tools.TASK: {"agent_name": "subagent_type", "agent_type": "subagent_type"},
}
_KINDS: Final = {
    "execute": tools.BASH,
    "read": tools.READ,
    "search": tools.GREP,
    "fetch": tools.WEB_FETCH,
}
_AGENT_VERB: Final = re.compile(r"spawn|wait|close|interrupt|send|followup")
_OF_MCP: Final = frozenset(("server", "tool", "arguments"))
_IDENTIFIER: Final = re.compile(r"[A-Za-z][\w.-]*\Z")
_MCP_TITLE: Final = re.compile(r"\A([\w.-]+) \(([\w.-]+) MCP Server\)")
_EXPLAINED: Final = re.compile(
    r"\[(?:current working directory [^\]]+|in ([^\]]+))\](?: \((.*?)\))?( \[background\])?\Z"
)
_AT: Final = re.compile(r"\[current working directory ([^\]]+)\]?")


class ToolUse(NamedTuple):
    """A call as messages have it."""

    tool: str
    native: str
    input: dict[str, Any]


def native_name(update: dict[str, Any], quirks: AcpQuirks) -> str | None:
    """The name of the tool, if this mention of a call has it."""
    meta = as_dict(update.get("_meta"))
    for named in (
        update.get("name"),
        meta.get("toolName"),
        as_dict(meta.get("claudeCode")).get("toolName"),
    ):
        if isinstance(named, str) and named:
            return named
    call_id = as_str(update.get("toolCallId")) or ""
    if quirks.id_has_name and "__" in call_id:
        return call_id.partition("__")[0]
    title = as_str(update.get("title")) or ""
    # A finished call already has a title for people; only a new one has the tool's name there.
    if quirks.title_has_name and update.get("status") == "pending" and _IDENTIFIER.match(title):
        return title
    return None


class CallFacts(NamedTuple):
    """What is known of a call when it is emitted."""

    name: str | None
    title: str
    kind: str
    input: dict[str, Any]
    content: list[Any]
    locations: list[Any]
    has_changes: bool = False
    """Whether an edit is shown as the changes of one or more files, and has no other input."""


def use_of(call: CallFacts, servers: Iterable[str]) -> ToolUse:
    """The call in the words that all harnesses share."""
    given = call.input or _input_shown(call)
    if (found := _mcp_use(call, given) or _agent_use(call, given)) is not None:
        return found
    native = call.name or _guessed(call, given)
    tool = _NAMES.get(native) or _of_server(native, call.title, servers) or native
    if tool == tools.EDIT and "content" in given and "old_string" not in given:
        tool = tools.WRITE
    keys = _KEYS.get(tool, {})
    if tool == tools.BASH and "command" in given:
        given = {
            key: value for key, value in given.items() if key != "cwd"
        }  # the host's, not the model's
    given = {keys.get(key, key): value for key, value in given.items()}
    if tool == tools.TODO_WRITE and isinstance(given.get("todos"), list):
        given["todos"] = [_todo(as_dict(each)) for each in as_list(given["todos"])]
    return ToolUse(tool, native, given)


def _mcp_use(call: CallFacts, given: dict[str, Any]) -> ToolUse | None:
    """The tool of an MCP server, where the input names both and holds the arguments (codex-acp)."""
    server, tool = given.get("server"), given.get("tool")
    if not isinstance(server, str) or not isinstance(tool, str):
        return None
    if call.title != f"mcp.{server}.{tool}" or not given.keys() <= _OF_MCP:
        return None
    return ToolUse(tools.mcp_tool(server, tool), call.title, as_dict(given.get("arguments")))


def _agent_use(call: CallFacts, given: dict[str, Any]) -> ToolUse | None:
    """A call that manages sub-agents, where the input has the state of each (codex-acp)."""
    if "senderThreadId" not in given:
        return None
    agents, said = as_list(given.get("receiverThreadIds")), as_str(given.get("prompt")) or ""
    match _AGENT_VERB.match(call.title):
        case re.Match() as found if found[0] == "spawn":
            return ToolUse(tools.TASK, call.title, {"prompt": said})
        case re.Match() as found if found[0] == "wait":
            return ToolUse(tools.TASK_OUTPUT, call.title, {"agent_ids": agents})
        case re.Match() as found if found[0] in ("close", "interrupt"):
            return ToolUse(tools.TASK_STOP, call.title, {"agent_ids": agents})
        case re.Match():
            return ToolUse(tools.SEND_MESSAGE, call.title, {"agent_ids": agents, "message": said})
        case None:
            return None


def _todo(todo: dict[str, Any]) -> dict[str, Any]:
    if "description" in todo and "content" not in todo:
        return {"content" if key == "description" else key: value for key, value in todo.items()}
    return todo


def _guessed(call: CallFacts, given: dict[str, Any]) -> str:
    """A name by what the call does, for agents that name no tool."""
    if call.kind == "edit" or "old_str" in given or "file_text" in given:
        changes = [as_dict(each) for each in as_list(given.get("changes"))]
        writes = "content" in given or "file_text" in given
        writes = writes or (bool(changes) and all(each.get("kind") == "add" for each in changes))
        return tools.WRITE if writes else tools.EDIT
    if call.kind == "search" and "pattern" in given and "path" not in given:
        return tools.GLOB if "*" in str(given["pattern"]) else tools.GREP
    if call.kind in ("think", "other") and {"subagent_type", "agent_type"} & given.keys():
        return tools.TASK
    if "todos" in given:
        return tools.TODO_WRITE
    return _KINDS.get(call.kind) or call.title or call.kind or "tool"


def _input_shown(call: CallFacts) -> dict[str, Any]:
    """The input of a call that only shows it: in its title, its places and its content."""
    if call.kind == "execute" and call.title:
        command = call.title.partition(" [current working directory ")[0]
        return {"command": command, **_explained(call.content)}
    diffs = [each for each in map(as_dict, call.content) if each.get("type") == "diff"]
    if diffs:
        several = call.has_changes or len(diffs) > 1
        return {"changes": [change_of(each) for each in diffs]} if several else _of_diff(diffs[0])
    places = [path for each in call.locations if (path := as_str(as_dict(each).get("path")))]
    if places:
        return {"file_path": places[0]}
    return _json_shown(call.content)


def _explained(content: list[Any]) -> dict[str, Any]:
    """What a command is shown with: where it runs, what for, and whether in the background (Gemini CLI)."""
    found = next(filter(None, map(_EXPLAINED.match, texts_of(content))), None)
    if found is None:
        return {}
    shown = {"dir_path": found[1], "description": found[2]}
    more: dict[str, Any] = {name: value for name, value in shown.items() if value}
    return more | ({"run_in_background": True} if found[3] else {})


def _of_diff(diff: dict[str, Any]) -> dict[str, Any]:
    path, old, new = diff.get("path"), diff.get("oldText"), diff.get("newText")
    if not old:
        return {"file_path": path, "content": new}
    before, after = _changed_lines(str(old), str(new or ""))
    return {"file_path": path, "old_string": before, "new_string": after}


def _changed_lines(old: str, new: str) -> tuple[str, str]:
    """The lines that differ, of texts that may be whole files; the texts themselves if one of them would be empty."""
    one, other = old.split("\n"), new.split("\n")
    first = 0
    while first < min(len(one), len(other)) and one[first] == other[first]:
        first += 1
    last = 0
    while last < min(len(one), len(other)) - first and one[-1 - last] == other[-1 - last]:
        last += 1
    before, after = (lines[first : len(lines) - last] for lines in (one, other))
    if not before or not after:
        return old, new
    return "\n".join(before), "\n".join(after)


def change_of(diff: dict[str, Any]) -> dict[str, Any]:
    """A change in the form that all harnesses have."""
    path = diff.get("path")
    old, new = as_str(diff.get("oldText")), as_str(diff.get("newText"))
    if not old:
        return {"path": path, "kind": "add", "diff": new or ""}
    if not new and as_dict(diff.get("_meta")).get("kind") == "delete":
        return {"path": path, "kind": "delete"}
    lines = difflib.unified_diff(_lines(old), _lines(new or ""), n=3)
    return {"path": path, "kind": "update", "diff": "".join(list(lines)[2:])}


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")] if text else []


def _json_shown(content: list[Any]) -> dict[str, Any]:
    """An input that is shown as JSON, as a call of an MCP server has it."""
    for text in texts_of(content):
        if text.startswith("{"):
            try:
                return as_dict(jsonl.loads(text.encode()))
            except jsonl.NotJson:
                return {}
    return {}


def _of_server(native: str, title: str, servers: Iterable[str]) -> str | None:
    """The name of an MCP server's tool, from however the agent joins the two names."""
    if native.startswith("mcp__"):
        return native
    if found := _MCP_TITLE.match(title):
        return tools.mcp_tool(found[2], found[1])
    bare = native.removeprefix("mcp_")
    for server in servers:
        for joint in ("_", "-", "."):
            if bare.startswith(server + joint):
                return tools.mcp_tool(server, bare[len(server) + 1 :])
    return tool_name(native) if native.startswith("mcp_") else None


def texts_of(content: Iterable[Any]) -> list[str]:
    """The texts in a call's content; other blocks are named."""
    found: list[str] = []
    for item in map(as_dict, content):
        block = as_dict(item.get("content")) if item.get("type") == "content" else item
        if item.get("type") not in ("diff", "terminal") and (text := block_text(block)):
            found.append(text)
    return found


def block_text(block: dict[str, Any]) -> str:
    """The text of a content block, or what stands for it."""
    match block.get("type"):
        case "text":
            return as_str(block.get("text")) or ""
        case "resource_link":
            return as_str(block.get("uri")) or ""
        case "resource":
            resource = as_dict(block.get("resource"))
            return as_str(resource.get("text")) or as_str(resource.get("uri")) or ""
        case str() as kind:
            return f"[{kind}]"
        case _:
            return ""


def cwd_shown(content: list[Any]) -> str | None:
    """The directory of a command, where the agent shows it beside the command."""
    found = next(filter(None, map(_AT.search, texts_of(content))), None)
    return found[1] if found else None


def approval_kind(tool: str, kind: str) -> ApprovalKind:
    """What an approval of this call is about."""
    if tool == tools.BASH or kind == "execute":
        return "command"
    if tool in (tools.EDIT, tools.WRITE) or kind in ("edit", "delete", "move"):
        return "edit"
    return "tool"
