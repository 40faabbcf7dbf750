"""Qwen Code's own about tools: calls that are wrapped in others, and results as its stream has them."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from dragoman.harnesses.gemini_tools.names import tool_name
from dragoman.harnesses.gemini_tools.results import CallResult, call_result
from dragoman.model.messages import ResultStatus
from dragoman.model.tools import BASH
from dragoman.wire.loose import as_dict, as_list, as_str

_WRAPPER: Final = "tool_call"
_AGENT: Final = "agent"
_USUAL_AGENT: Final = "general-purpose"
_CANCELLED: Final = "[Operation Cancelled] Reason: "
_ABORTED: Final = ("Error: Request aborted", "The tool had already completed; its output was")
"""How the reason of a cancelled call begins if no one denied it: the turn was interrupted."""
_DENIED: Final = re.compile(
    r"\AQwen Code requires permission to use .*, but that permission was declined"
    r'|\ATool ".*" was cancell?ed by the user\.',
    re.DOTALL,
)
_FACTS: Final = "Command: "
"""How the text begins that has the output of a command among facts about it."""
_SAVED: Final = "Output too long and was saved to: "
"""The stream says so; a chat names the files alone."""
_IN_BACKGROUND: Final = ("Background shell ", "Background agent launched")


class UnwrappedCall(NamedTuple):
    """A call as the agent means it."""

    tool: str
    input: dict[str, Any]


def unwrapped_call(native: str, given: dict[str, Any]) -> UnwrappedCall:
    """The call of a tool that is only found by searching: it is made through another one."""
    inner = as_str(given.get("name"))
    if native != _WRAPPER or inner is None or not isinstance(given.get("arguments"), dict):
        return UnwrappedCall(native, given)
    return UnwrappedCall(inner, as_dict(given["arguments"]))


def agent_name(call_id: str, call: UnwrappedCall) -> str | None:
    """The sub-agent that a call starts, by the name that its file has; None for any other call."""
    if call.tool != _AGENT:
        return None
    return f"{as_str(call.input.get('subagent_type')) or _USUAL_AGENT}-{call_id}"


def starts_in_background(text: str) -> bool:
    """Whether the result of a call says only that its work has begun."""
    return text.startswith(_IN_BACKGROUND)


def result_of(tool: str, text: str, *, is_error: bool, display: Any = None) -> CallResult:
    """The result of a call of this tool, from what the model, or the stream, was given."""
    shown = as_dict(display)
    if (as_str(shown.get("text")) or "").startswith(_FACTS):
        display = {name: each for name, each in shown.items() if name != "text"}
    response = {"response": {"error" if is_error else "output": text}}
    result = call_result(tool, response, status="error" if is_error else "success", display=display)
    if is_error:
        return result._replace(status=_status(text))
    if files := [str(each) for each in as_list(shown.get("outputFiles"))]:
        result = result._replace(output=f"{result.output}\n{_SAVED}{', '.join(files)}")
    if tool == BASH and result.exit_code is None and not starts_in_background(text):
        return result._replace(exit_code=0)  # a command that fails is reported as an error
    return result


def shared_name(native: str) -> str:
    """The tool by the name that messages use."""
    return tool_name(native)


def _status(text: str) -> ResultStatus:
    if text.startswith(_CANCELLED):
        return "failed" if text[len(_CANCELLED) :].startswith(_ABORTED) else "declined"
    return "declined" if _DENIED.match(text) else "failed"
