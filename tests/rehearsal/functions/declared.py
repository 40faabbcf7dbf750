"""The functions of four agents, as their requests declare them: names and required arguments only."""

from __future__ import annotations

from typing import Any


def _function(name: str, *arguments: str, needs: str = "", **typed: Any) -> dict[str, Any]:
    properties = {each: {"type": "string"} for each in arguments} | typed
    schema = {"type": "object", "properties": properties, "required": needs.split()}
    return {"name": name, "parameters": schema}


def _list_of(*names: str) -> dict[str, Any]:
    items = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    return {"type": "array", "items": items}


_BOOLEAN = {"type": "boolean"}
_MODE = {"type": "string", "enum": ["sync", "background"]}
_KINDS = {"type": "string", "enum": ["explore", "general-purpose"]}
GEMINI = [
    _function("read_file", "file_path", needs="file_path"),
    _function(
        "replace",
        *("file_path", "instruction", "old_string", "new_string"),
        needs="file_path instruction old_string new_string",
    ),
    _function("write_file", "file_path", "content", needs="file_path content"),
    _function("run_shell_command", "command", "description", "dir_path", needs="command"),
    _function("google_web_search", "query", needs="query"),
    _function("write_todos", todos=_list_of("description", "status"), needs="todos"),
    _function("invoke_agent", "agent_name", "prompt", needs="agent_name prompt"),
    _function(
        "ask_user",
        questions=_list_of("question", "header", "type", "options", "multiSelect"),
        needs="questions",
    ),
    _function("mcp_tickets_find", "q"),
]
COPILOT = [
    _function("bash", "command", "description", mode=_MODE, needs="command description"),
    _function("view", "path", needs="path"),
    _function("create", "path", "file_text", needs="path file_text"),
    _function("edit", "path", "old_str", "new_str", needs="path"),
    _function("sql", "description", "query", needs="description query"),
    _function(
        "task",
        *("description", "prompt", "name"),
        agent_type=_KINDS,
        mode=_MODE,
        needs="name prompt agent_type description",
    ),
    _function("ask_user", "question", choices={"type": "array"}, needs="question"),
    _function("tickets-find", "q"),
]
QWEN = [
    _function("agent", "description", "prompt", "subagent_type", run_in_background=_BOOLEAN),
    _function("edit", "file_path", "old_string", "new_string"),
    _function("read_file", "file_path", needs="file_path"),
    _function(
        "run_shell_command", "command", "description", "directory", timeout={"type": "integer"}
    ),
    _function("tool_call", "name", arguments={"type": "object"}, needs="name arguments"),
    _function("write_file", "file_path", "content"),
    _function("todo_write", todos=_list_of("id", "content", "status")),
]
OPENCODE = [
    _function("bash", "command", "workdir", timeout={"type": "integer"}, needs="command"),
    _function("edit", "filePath", "oldString", "newString"),
    _function("read", "filePath"),
    _function("write", "filePath", "content"),
    _function("task", "description", "prompt", "subagent_type"),
    _function("todowrite", todos=_list_of("content", "status", "priority")),
    _function("tickets_find", "q"),
]
PLAIN: dict[str, list[dict[str, Any]]] = {
    "gemini": GEMINI,
    "copilot": COPILOT,
    "qwen": QWEN,
    "opencode": OPENCODE,
}


def as_chat(functions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As a request for a chat completion declares them."""
    return [{"type": "function", "function": function} for function in functions]


def as_gemini(functions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As a request to the Gemini API declares them."""
    return [{"functionDeclarations": functions}]
