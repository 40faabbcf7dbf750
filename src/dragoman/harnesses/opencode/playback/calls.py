"""Calls and their results as parts of opencode's messages."""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.opencode.tools import KEYS, NAMES
from dragoman.model.messages import ToolCall, ToolResult

_NATIVE: Final = {ours: native for native, ours in reversed(NAMES.items())}
_THEIRS: Final = {ours: native for native, ours in KEYS.items()}
_MCP: Final = "mcp__"
_REJECTED: Final = "The user rejected permission to use this specific tool call."


def native_name(call: ToolCall) -> str:
    """The name of a call's tool in opencode."""
    if call.tool.startswith(_MCP):
        return call.tool.removeprefix(_MCP).replace("__", "_", 1)
    if call.tool == "Edit" and "file_path" not in call.input:
        return "apply_patch"
    return _NATIVE.get(call.tool, call.native_tool or call.tool)


def native_input(call: ToolCall) -> dict[str, Any]:
    """The input of a call in opencode."""
    if call.tool.startswith(_MCP):
        return dict(call.input)
    return {_THEIRS.get(key, key): value for key, value in call.input.items()}


def ended_state(call: ToolCall, result: ToolResult, at: int, agent: str | None) -> dict[str, Any]:
    """The state of a call that has ended; ``agent`` is the session that it started."""
    took = result.duration_ms or 0
    state: dict[str, Any] = {"input": native_input(call), "time": {"start": at - took, "end": at}}
    if result.status == "declined" or (result.is_error and result.exit_code is None):
        declined = result.status == "declined" and not result.output.startswith("The user ")
        return {**state, "status": "error", "error": _REJECTED if declined else result.output}
    metadata: dict[str, Any] = {"output": result.output}
    if result.exit_code is not None:
        metadata["exit"] = result.exit_code
    if agent is not None:
        metadata["sessionId"] = agent
    return {**state, "status": "completed", "output": result.output, "metadata": metadata}
