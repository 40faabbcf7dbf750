"""Calls of tools as Codex's own: its shell, ``apply_patch``, ``update_plan``, MCP tools.

The names and the shape of the outputs follow the release that will resume the session. Calls that read files
become the shell commands with which Codex reads them; calls of other tools are left to the caller, as text.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.harnesses.codex.versions import Version
from dragoman.harnesses.writing.edits import FileEdit, changes_in
from dragoman.harnesses.writing.words import has_failed, is_unfinished, output_of, was_declined
from dragoman.model import tools
from dragoman.model.turns import Use
from dragoman.wire.loose import as_dict, as_int, as_list, as_str

_Item = dict[str, Any]

SHELL_COMMAND: Final = (0, 59, 0)
EXEC_COMMAND: Final = (0, 98, 0)
PATCH_TOOL: Final = (0, 53, 0)
PLAIN_PATCH_OUTPUT: Final = (0, 142, 0)
MCP_PREFIX: Final = (0, 53, 0)
MCP_NAMESPACE: Final = (0, 125, 0)


class WrittenCall(NamedTuple):
    """A call and its output as response items."""

    items: tuple[_Item, _Item]
    is_translated: bool = False
    """Whether another tool stands for the one that was called."""


def as_codex(use: Use, call_id: str, release: Version) -> WrittenCall | None:
    """Return the call as one of Codex's own; None if Codex has no such tool."""
    call, given = use.call, use.call.input
    if call.tool == tools.BASH and (command := as_str(given.get("command"))) is not None:
        return WrittenCall(_shell(use, call_id, command, release))
    if call.tool in (tools.EDIT, tools.WRITE):
        changes = changes_in(call)
        return WrittenCall(_patch(use, call_id, changes, release)) if changes else None
    if call.tool == tools.TODO_WRITE:
        plan = _plan(use, call_id)
        return WrittenCall(plan) if plan is not None else None
    if call.tool.startswith("mcp__") and call.tool.count("__") >= 2:
        return WrittenCall(_mcp(use, call_id, release))
    command = _reading_command(use)
    if command is not None:
        return WrittenCall(_shell(use, call_id, command, release), is_translated=True)
    return None


def _function(
    call_id: str, name: str, arguments: Any, output: str, **more: Any
) -> tuple[_Item, _Item]:
    call = {
        "type": "function_call",
        "name": name,
        **more,
        "arguments": msgspec.json.encode(arguments).decode(),
        "call_id": call_id,
    }
    return call, {"type": "function_call_output", "call_id": call_id, "output": output}


def _shell(use: Use, call_id: str, command: str, release: Version) -> tuple[_Item, _Item]:
    output = _shell_output(use, release)
    if release >= EXEC_COMMAND:
        return _function(call_id, "exec_command", {"cmd": command}, output)
    if release >= SHELL_COMMAND:
        return _function(call_id, "shell_command", {"command": command}, output)
    return _function(call_id, "shell", {"command": ["bash", "-lc", command]}, output)


def _shell_output(use: Use, release: Version) -> str:
    text = output_of(use)
    code = use.result.exit_code if use.result is not None else None
    if (sentence := _not_run(use, text, "exec command")) is not None:
        return sentence
    if code is None and not has_failed(use):
        code = 0
    if code is None:
        return f"error: {text}"
    seconds = _seconds(use)
    if release < SHELL_COMMAND:
        return _wrapped(text, code, seconds)
    if release < EXEC_COMMAND:
        return f"Exit code: {code}\nWall time: {seconds:g} seconds\nOutput:\n{text}"
    return f"Wall time: {seconds:.4f} seconds\nProcess exited with code {code}\nOutput:\n{text}"


def _not_run(use: Use, text: str, what: str) -> str | None:
    """What Codex says of a call that it did not run, or not to its end."""
    if is_unfinished(use):
        return "aborted"
    if was_declined(use):
        sentence = f"{what} rejected by user"
        return f"{sentence}: {text}" if text else sentence
    return None


def _seconds(use: Use) -> float:
    took = use.result.duration_ms if use.result is not None else None
    return (took or 0) / 1000


def _wrapped(text: str, code: int, seconds: float) -> str:
    metadata = {"exit_code": code, "duration_seconds": round(seconds, 1)}
    return msgspec.json.encode({"output": text, "metadata": metadata}).decode()


def _patch(
    use: Use, call_id: str, changes: list[FileEdit], release: Version
) -> tuple[_Item, _Item]:
    patch = patch_of(changes)
    text = output_of(use)
    code = int(has_failed(use))
    sentence = _not_run(use, text, "patch")
    if release < PATCH_TOOL:
        output = sentence or _wrapped(text, code, _seconds(use))
        return _function(call_id, "shell", {"command": ["apply_patch", patch]}, output)
    if release < PLAIN_PATCH_OUTPUT:
        output = sentence or _wrapped(text, code, _seconds(use))
    else:
        took = f"{_seconds(use):g}"
        output = sentence or f"Exit code: {code}\nWall time: {took} seconds\nOutput:\n{text}"
    call = {
        "type": "custom_tool_call",
        "status": "completed",
        "call_id": call_id,
        "name": "apply_patch",
        "input": patch,
    }
    return call, {"type": "custom_tool_call_output", "call_id": call_id, "output": output}


def patch_of(changes: list[FileEdit]) -> str:
    """The changes in Codex's own patch language."""
    lines = ["*** Begin Patch"]
    for change in changes:
        lines += _change(change)
    return "\n".join([*lines, "*** End Patch"])


def _change(change: FileEdit) -> list[str]:
    if change.kind == "add":
        body = change.content.removesuffix("\n").split("\n") if change.content else []
        return [f"*** Add File: {change.path}", *(f"+{line}" for line in body)]
    if change.kind == "delete":
        return [f"*** Delete File: {change.path}"]
    lines = [f"*** Update File: {change.path}"]
    if change.move_path is not None:
        lines.append(f"*** Move to: {change.move_path}")
    for hunk in change.hunks:
        lines.append("@@")
        lines += _marked(hunk.old, hunk.new)
    return lines


def _marked(old: str, new: str) -> list[str]:
    """The lines of a hunk: what both texts begin and end with is context, between them old and new."""
    before, after = _lines(old), _lines(new)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    most = min(len(before), len(after)) - head
    while tail < most and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return [
        *(f" {line}" for line in before[:head]),
        *(f"-{line}" for line in before[head : len(before) - tail]),
        *(f"+{line}" for line in after[head : len(after) - tail]),
        *(f" {line}" for line in before[len(before) - tail :]),
    ]


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def _plan(use: Use, call_id: str) -> tuple[_Item, _Item] | None:
    todos = [as_dict(each) for each in as_list(use.call.input.get("todos"))]
    if not todos:
        return None
    steps = [
        {
            "step": as_str(each.get("content")) or "",
            "status": as_str(each.get("status")) or "pending",
        }
        for each in todos
    ]
    given: dict[str, Any] = {"plan": steps}
    if explanation := as_str(use.call.input.get("explanation")):
        given["explanation"] = explanation
    output = output_of(use)
    if has_failed(use):
        output = _not_run(use, output, "exec command") or f"error: {output}"
    return _function(call_id, "update_plan", given, output or "Plan updated")


def _mcp(use: Use, call_id: str, release: Version) -> tuple[_Item, _Item]:
    server, _, name = use.call.tool.removeprefix("mcp__").partition("__")
    text = output_of(use)
    if (sentence := _not_run(use, text, "exec command")) is not None:
        output = sentence
    else:
        output = f"tool call error: {text}" if has_failed(use) else text
    given = use.call.input
    if release >= MCP_NAMESPACE:
        return _function(call_id, name, given, output, namespace=f"mcp__{server}")
    if release >= MCP_PREFIX:
        return _function(call_id, f"mcp__{server}__{name}", given, output)
    return _function(call_id, f"{server}__{name}", given, output)


# Codex reads files and folders with the shell.


def _reading_command(use: Use) -> str | None:
    command = _COMMANDS.get(use.call.tool)
    return command(use.call.input) if command is not None else None


def _read(given: dict[str, Any]) -> str | None:
    path = as_str(given.get("file_path"))
    if not path:
        return None
    first, count = as_int(given.get("offset")), as_int(given.get("limit"))
    if first is None and count is None:
        return f"cat {shlex.quote(path)}"
    begin = max(1, first or 1)
    end = begin + count - 1 if count is not None else "$"
    return f"sed -n '{begin},{end}p' {shlex.quote(path)}"


def _glob(given: dict[str, Any]) -> str | None:
    pattern = as_str(given.get("pattern"))
    if not pattern:
        return None
    return f"rg --files -g {shlex.quote(pattern)}{_in(given)}"


def _grep(given: dict[str, Any]) -> str | None:
    pattern = as_str(given.get("pattern"))
    if not pattern:
        return None
    files = as_str(given.get("glob")) or as_str(given.get("include"))
    only = f" -g {shlex.quote(files)}" if files else ""
    return f"rg -n{only} -e {shlex.quote(pattern)}{_in(given)}"


def _ls(given: dict[str, Any]) -> str | None:
    return f"ls{_in(given)}"


def _in(given: dict[str, Any]) -> str:
    path = as_str(given.get("path"))
    return f" {shlex.quote(path)}" if path else ""


_COMMANDS: Final[dict[str, Callable[[dict[str, Any]], str | None]]] = {
    tools.READ: _read,
    tools.GLOB: _glob,
    tools.GREP: _grep,
    tools.LS: _ls,
}
