"""The tool calls of a session that may still get a result, for the transcripts for people.

A result names its call only by an id. Whoever shows one wants to know what was called, even if the
turn of the call is over, and whether a plan has been shown already, by the call that made it.
"""

from __future__ import annotations

from dragoman.model.messages import ToolCall, ToolResult
from dragoman.rendering import render


class CallIndex:
    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._left: dict[str, ToolCall] = {}
        """Calls whose turn ended first. Some of them go on and are heard of later."""

    def begin(self, call: ToolCall) -> None:
        self._open[call.call_id] = call

    def end(self, result: ToolResult) -> ToolCall | None:
        """The call that this is the result of, if it was heard of."""
        call = self._open.pop(result.call_id, None) or self._left.pop(result.call_id, None)
        if call and result.status == "abandoned":
            self._left[call.call_id] = call
        return call

    def end_turn(self) -> None:
        self._left |= self._open
        self._open.clear()

    @property
    def show_a_plan(self) -> bool:
        """Whether a call that writes down a plan is open."""
        return any(render.steps(call) for call in self._open.values())


def explanation(call: ToolCall) -> str | None:
    """What a call that writes down a plan says besides the steps."""
    said = call.input.get("explanation")
    return said if isinstance(said, str) and said else None
