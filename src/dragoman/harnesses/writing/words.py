"""Calls of tools as text, for a harness that has no such tool; and their outputs without the harness's wrapping."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.model.messages import ToolCall
from dragoman.model.tools import BASH
from dragoman.model.turns import Use

NO_RESULT: Final = "(no result: the turn ended first)"
_EXIT_CODE: Final = "Exit code "


def output_of(use: Use) -> str:
    """What a call returned. The exit code that some harnesses put in front of it is in ``exit_code``."""
    result = use.result
    if result is None:
        return NO_RESULT
    output = result.output
    if result.status == "abandoned":
        return f"{output}\n{NO_RESULT}" if output else NO_RESULT
    head = f"{_EXIT_CODE}{result.exit_code}"
    if use.call.tool == BASH and result.exit_code is not None:
        if output == head:
            return ""
        return output.removeprefix(f"{head}\n")
    return output


def has_failed(use: Use) -> bool:
    """Whether a call has no good result."""
    return use.result is None or use.result.is_error or use.result.status != "completed"


def was_declined(use: Use) -> bool:
    return use.result is not None and use.result.status == "declined"


def is_unfinished(use: Use) -> bool:
    """Whether the turn ended before the call did."""
    return use.result is None or use.result.status == "abandoned"


def call_in_words(use: Use) -> str:
    """A call and its result as text that a model and a person can read."""
    call = use.call
    how = "declined" if was_declined(use) else "failed" if has_failed(use) else "result"
    parts = [f"[Earlier call of the tool {named(call)}]", f"input: {_json(call.input)}"]
    output = output_of(use)
    parts.append(f"{how}: {output}" if output else f"{how}: (no output)")
    return "\n".join(parts)


def named(call: ToolCall) -> str:
    return call.tool or call.native_tool or "without a name"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
