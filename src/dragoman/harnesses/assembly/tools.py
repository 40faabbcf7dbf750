"""Emit the tool calls of a session, and exactly one result for each."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.assembly.calls import SessionCalls
from dragoman.harnesses.assembly.output import SessionOutput
from dragoman.harnesses.assembly.turns import TurnLifecycle
from dragoman.model.messages import ResultStatus, ToolCall, ToolResult


class SessionTools:
    """What the agent does in one session."""

    __slots__ = ("_calls", "_out", "_turns")

    def __init__(self, out: SessionOutput, turns: TurnLifecycle, calls: SessionCalls) -> None:
        self._out = out
        self._turns = turns
        self._calls = calls

    def call(self, call_id: str, tool: str, native_tool: str, input: dict[str, Any]) -> None:
        if not self._calls.opens(call_id, input):
            self._out.duplicate("tool call: emitted before")
            return
        if self._turns.open_turn is None:
            self._turns.ensure()
        self._turns.text_was_last = False
        self._out.agent_spoke = True
        session = self._out
        out = session.stream
        out.messages.append(
            ToolCall(
                session_id=session.session_id,
                turn_id=session.turn_id,
                at=out.at,
                line=out.line,
                call_id=call_id,
                tool=tool,
                native_tool=native_tool,
                input=input,
            )
        )

    def result(
        self,
        call_id: str,
        output: str = "",
        *,
        is_error: bool = False,
        exit_code: int | None = None,
        duration_ms: int | None = None,
        status: ResultStatus | None = None,
    ) -> None:
        calls = self._calls
        if not (calls.abandons if status == "abandoned" else calls.closes)(call_id):
            self._out.duplicate("tool result: emitted before")
            return
        streamed = calls.release(call_id)
        session = self._out
        out = session.stream
        out.messages.append(
            ToolResult(
                session_id=session.session_id,
                turn_id=session.turn_id,
                at=out.at,
                line=out.line,
                call_id=call_id,
                output=output or streamed,
                is_error=is_error,
                exit_code=exit_code,
                duration_ms=duration_ms,
                status=status or ("failed" if is_error else "completed"),
            )
        )

    def abandon_open(self) -> None:
        """The turn ends: emit a result for each call that has none, with what it has put out."""
        for call_id, output in self._calls.abandon_open():
            self._out.emit(
                ToolResult, call_id=call_id, output=output, is_error=True, status="abandoned"
            )
