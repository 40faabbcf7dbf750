"""Track the tool calls of a session that may still get a result, for transcripts for people.

A result names its call only by an id. A transcript needs the call, even after its turn, and must know whether a
plan was already shown by the call that made it.
"""

from __future__ import annotations

from dragoman.model.messages import ToolCall, ToolResult
from dragoman.rendering import render


class CallIndex:
    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._left: dict[str, ToolCall] = {}
        """Calls whose turn ended first. Some of them continue and get a result later."""

    def begin(self, call: ToolCall) -> None:
        self._open[call.call_id] = call

    def end(self, result: ToolResult) -> ToolCall | None:
        """The call of this result, if known."""
        call = self._open.pop(result.call_id, None) or self._left.pop(result.call_id, None)
        if call and result.status == "abandoned":
            self._left[call.call_id] = call
        return call

    def end_turn(self) -> None:
        self._left |= self._open
        self._open.clear()

    @property
    def show_a_plan(self) -> bool:
        """Whether a call that sets a plan is open."""
        return any(render.steps(call) for call in self._open.values())


def explanation(call: ToolCall) -> str | None:
    """The explanation in a call that sets a plan."""
    text = call.input.get("explanation")
    return text if isinstance(text, str) and text else None
