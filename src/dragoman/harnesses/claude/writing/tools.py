"""Calls of tools as Claude's own: ``Bash``, ``Read``, ``Edit``, ``Write``, ``TodoWrite``, MCP tools and the rest.

Messages use Claude's names already. What remains is to give each call the input that Claude's tool takes. A patch
of several changes becomes several calls, because Claude's tools change one place at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from dragoman.harnesses.writing.edits import FileEdit, changes_in
from dragoman.harnesses.writing.words import has_failed, output_of
from dragoman.model import tools
from dragoman.model.turns import Use
from dragoman.wire.loose import as_dict, as_int, as_list, as_str

_Input = dict[str, Any]
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
_SAME_CHANGE: Final = "(part of the same patch as the call before)"


class ClaudeCall(NamedTuple):
    """A ``tool_use`` block and its result."""

    name: str
    input: _Input
    output: str
    is_error: bool


def as_claude(use: Use, *, is_native: bool) -> list[ClaudeCall]:
    """Return the call as one or more of Claude's own; nothing if Claude has no such tool."""
    call = use.call
    if is_native and _NAME.match(call.native_tool):
        return [_call(use, call.native_tool, call.input)]
    if call.tool in (tools.EDIT, tools.WRITE):
        return _edits(use)
    if call.tool.startswith("mcp__") and _NAME.match(call.tool):
        return [_call(use, call.tool, call.input)]
    reader = _INPUTS.get(call.tool)
    given = reader(call.input) if reader is not None else None
    name = "Agent" if call.tool == tools.TASK else call.tool
    return [_call(use, name, given)] if given is not None else []


def _call(use: Use, name: str, given: _Input) -> ClaudeCall:
    output = output_of(use)
    code = use.result.exit_code if use.result is not None else None
    if code and use.call.tool == tools.BASH:
        output = f"Exit code {code}\n{output}"
    return ClaudeCall(name, given, output, has_failed(use))


def _edits(use: Use) -> list[ClaudeCall]:
    calls: list[ClaudeCall] = []
    for change in changes_in(use.call) or []:
        written = _change(change)
        if written is None:
            return []
        calls += [_call(use, name, given) for name, given in written]
    return [calls[0], *(each._replace(output=_SAME_CHANGE) for each in calls[1:])] if calls else []


def _change(change: FileEdit) -> list[tuple[str, _Input]] | None:
    """The calls that make a change; None for what no tool of Claude's does."""
    if change.kind == "add":
        return [(tools.WRITE, {"file_path": change.path, "content": change.content})]
    if change.kind == "delete" or change.move_path is not None:
        return None
    return [
        (tools.EDIT, {"file_path": change.path, "old_string": hunk.old, "new_string": hunk.new})
        for hunk in change.hunks
    ]


# The inputs that Claude's tools take; None if the call lacks what the tool needs.


def _bash(given: _Input) -> _Input | None:
    command = as_str(given.get("command"))
    if command is None:
        return None
    description = as_str(given.get("description"))
    return {"command": command, **({"description": description} if description else {})}


def _read(given: _Input) -> _Input | None:
    path = as_str(given.get("file_path"))
    if not path:
        return None
    range_ = {key: at for key in ("offset", "limit") if (at := as_int(given.get(key))) is not None}
    return {"file_path": path, **range_}


def _with(needed: str, *others: str) -> Callable[[_Input], _Input | None]:
    """Keep these fields, if the first is there."""

    def read(given: _Input) -> _Input | None:
        if as_str(given.get(needed)) is None:
            return None
        return {key: given[key] for key in (needed, *others) if given.get(key) is not None}

    return read


def _todos(given: _Input) -> _Input | None:
    todos = [as_dict(each) for each in as_list(given.get("todos"))]
    if not todos:
        return None
    return {
        "todos": [
            {
                "content": (text := as_str(each.get("content")) or ""),
                "status": as_str(each.get("status")) or "pending",
                "activeForm": as_str(each.get("activeForm")) or text,
            }
            for each in todos
        ]
    }


def _task(given: _Input) -> _Input | None:
    prompt = as_str(given.get("prompt"))
    if prompt is None:
        return None
    return {
        "description": as_str(given.get("description")) or prompt[:60],
        "prompt": prompt,
        "subagent_type": as_str(given.get("subagent_type")) or "general-purpose",
    }


_INPUTS: Final[dict[str, Callable[[_Input], _Input | None]]] = {
    tools.BASH: _bash,
    tools.READ: _read,
    tools.GLOB: _with("pattern", "path"),
    tools.GREP: _with("pattern", "path", "glob", "output_mode"),
    tools.WEB_SEARCH: _with("query"),
    tools.WEB_FETCH: _with("url", "prompt"),
    tools.TODO_WRITE: _todos,
    tools.TASK: _task,
}
