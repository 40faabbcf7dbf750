"""Items as the app-server sends them, made from messages.

| message | item |
|---|---|
| prompt, text, thinking | userMessage, agentMessage, reasoning |
| Bash; Edit, Write | commandExecution; fileChange |
| ``mcp__server__tool`` | mcpToolCall |
| WebSearch, WebFetch; Read | webSearch; imageView |
| Task, TaskOutput, TaskStop, SendMessage | collabAgentToolCall, or subAgentActivity |
| any other tool | dynamicToolCall |
| compacted | contextCompaction |
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.model import tools
from dragoman.model.messages import Prompt, Text, ToolCall, ToolResult

Item: TypeAlias = dict[str, Any]
_MCP: Final = re.compile(r"mcp__(.+?)__(.+)", re.DOTALL)
_AGENT_TOOLS: Final = {
    tools.TASK: "spawnAgent",
    tools.TASK_OUTPUT: "wait",
    tools.TASK_STOP: "closeAgent",
    tools.SEND_MESSAGE: "sendInput",
}
_ACTIVITIES: Final = {
    tools.TASK: "started",
    tools.SEND_MESSAGE: "interacted",
    tools.TASK_STOP: "interrupted",
}


def prompt_item(prompt: Prompt, item_id: str) -> Item:
    content: list[Item] = [{"type": "text", "text": prompt.text, "text_elements": []}]
    for image in prompt.images:
        is_far = image.startswith(("http:", "https:", "data:"))
        content.append(
            {"type": "image", "url": image} if is_far else {"type": "localImage", "path": image}
        )
    return {"type": "userMessage", "id": item_id, "clientId": None, "content": content}


def text_item(text: Text | None, item_id: str) -> Item:
    """A text; None for one that only begins."""
    return {
        "type": "agentMessage",
        "id": item_id,
        "text": text.text if text else "",
        "phase": text.phase if text else None,
        "memoryCitation": None,
        "delivery": None,
        "questions": None,
    }


def thinking_item(parts: list[str], item_id: str) -> Item:
    return {"type": "reasoning", "id": item_id, "summary": parts, "content": []}


def compaction_item(item_id: str) -> Item:
    return {"type": "contextCompaction", "id": item_id}


def call_item(call: ToolCall, result: ToolResult | None, sender: str, cwd: str) -> Item | None:
    """A call that begins, or with its result one that is over; None for one that plans contain."""
    if call.tool == tools.TODO_WRITE:
        return None
    make = _MAKERS.get(call.tool)
    if make is None and call.tool.startswith("mcp__"):
        make = _mcp
    item = (make or _dynamic)(call, result, cwd)
    if item["type"] == "collabAgentToolCall":
        item["senderThreadId"] = sender
    return {"type": item.pop("type"), "id": call.call_id, **item}


def status_of(result: ToolResult | None) -> str:
    if result is None:
        return "inProgress"
    if result.status == "declined":
        return "declined"
    return "failed" if result.is_error else "completed"


def command_of(call: ToolCall) -> str:
    """The command with the shell around it that ran it."""
    script = as_str(call.input.get("command")) or as_str(call.input.get("raw")) or ""
    return shlex.join(["/bin/bash", "-lc", script])


def server_and_tool(tool: str) -> tuple[str, str]:
    found = _MCP.fullmatch(tool)
    return (found[1], found[2]) if found else ("", tool.removeprefix("mcp__"))


def _command(call: ToolCall, result: ToolResult | None, cwd: str) -> Item:
    script = as_str(call.input.get("command")) or ""
    return {
        "type": "commandExecution",
        "pluginId": None,
        "scriptPath": None,
        "command": command_of(call),
        "cwd": cwd,
        "processId": None,
        "source": "userShell" if call.native_tool == "user_shell" else "unifiedExecStartup",
        "status": status_of(result),
        "commandActions": [{"type": "unknown", "command": script}],
        "aggregatedOutput": result.output if result else None,
        "exitCode": result.exit_code if result else None,
        "durationMs": result.duration_ms if result else None,
    }


def changes_in(call: ToolCall) -> list[Item]:
    """The changes of an edit, each with its path, kind, diff and, if it moves, where to."""
    changes = [as_dict(change) for change in as_list(call.input.get("changes"))]
    return [
        {
            "path": as_str(change.get("path")) or "",
            "kind": as_str(change.get("kind")) or "update",
            "diff": as_str(change.get("diff")) or "",
            "move_path": as_str(change.get("move_path")),
        }
        for change in changes
    ]


def _edit(call: ToolCall, result: ToolResult | None, cwd: str) -> Item:
    changes: list[Item] = []
    for change in changes_in(call):
        kind: Item = {"type": change["kind"]}
        if change["kind"] == "update":
            kind["move_path"] = change["move_path"]
        changes.append({"path": change["path"], "kind": kind, "diff": change["diff"]})
    return {"type": "fileChange", "changes": changes, "status": status_of(result)}


def _mcp(call: ToolCall, result: ToolResult | None, cwd: str) -> Item:
    server, tool = server_and_tool(call.tool)
    return {
        "type": "mcpToolCall",
        "server": server,
        "tool": tool,
        "status": "failed" if status_of(result) == "declined" else status_of(result),
        "arguments": call.input,
        "appContext": None,
        "mcpAppUi": None,
        "pluginId": None,
        "readOnlyHint": None,
        "result": result and {"content": text_blocks(result.output), "structuredContent": None},
        "error": None,
        "durationMs": result.duration_ms if result else None,
    }


def text_blocks(text: str) -> list[Item]:
    return [{"type": "text", "text": text}]


def _search(call: ToolCall, result: ToolResult | None, cwd: str) -> Item:
    query = as_str(call.input.get("query")) or ""
    action: Item | None = {"type": "search", "query": query, "queries": [query]}
    if call.tool == tools.WEB_FETCH:
        url, pattern = as_str(call.input.get("url")) or "", as_str(call.input.get("pattern"))
        query = f"'{pattern}' in {url}" if pattern else url
        action = (
            {"type": "findInPage", "url": url, "pattern": pattern}
            if pattern
            else {"type": "openPage", "url": url}
        )
    return {"type": "webSearch", "query": query, "action": action, "results": None}


def _read(call: ToolCall, result: ToolResult | None, cwd: str) -> Item:
    if result is not None and result.output:  # a file, not an image: its words would be lost
        return _dynamic(call, result, cwd)
    return {"type": "imageView", "path": as_str(call.input.get("file_path")) or ""}


def _agents(call: ToolCall, result: ToolResult | None, cwd: str) -> Item:
    given, output = call.input, result.output if result else ""
    ids = [str(each) for each in as_list(given.get("agent_ids"))]
    words = as_str(given.get("prompt")) or as_str(given.get("message"))
    activity = _ACTIVITIES.get(call.tool)
    if words is None and activity is not None and call.native_tool.startswith("sub_agent"):
        name = as_str(given.get("description")) or (ids[0] if ids else "")
        path = output or (name if name.startswith("/") else f"/root/{name}")
        return {"type": "subAgentActivity", "kind": activity, "agentThreadId": path,
                "agentPath": path}  # fmt: skip
    states: Item = {}
    if call.tool == tools.TASK and result is not None:
        ids = [each for each in output.split("\n") if each]
        states = {each: {"status": "pendingInit", "message": None} for each in ids}
    elif result is not None and output:
        states = {ids[0] if ids else "": {"status": "completed", "message": output}}
    return {
        "type": "collabAgentToolCall",
        "tool": _AGENT_TOOLS[call.tool],
        "status": status_of(result),
        "senderThreadId": "",
        "receiverThreadIds": ids,
        "prompt": words,
        "model": None,
        "reasoningEffort": None,
        "agentsStates": states,
    }


def _dynamic(call: ToolCall, result: ToolResult | None, cwd: str) -> Item:
    said = [{"type": "inputText", "text": result.output}] if result and result.output else []
    return {
        "type": "dynamicToolCall",
        "namespace": None,
        "tool": call.tool,
        "arguments": call.input,
        "status": "failed" if status_of(result) == "declined" else status_of(result),
        "contentItems": said if result else None,
        "success": not result.is_error if result else None,
        "durationMs": result.duration_ms if result else None,
    }


_Make: TypeAlias = Callable[[ToolCall, ToolResult | None, str], Item]
_MAKERS: Final[dict[str, _Make]] = {
    tools.BASH: _command,
    tools.EDIT: _edit,
    tools.WRITE: _edit,
    tools.WEB_SEARCH: _search,
    tools.WEB_FETCH: _search,
    tools.READ: _read,
    **dict.fromkeys(_AGENT_TOOLS, _agents),
}
