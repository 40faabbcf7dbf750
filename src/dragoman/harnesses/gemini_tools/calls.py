"""What is reported about calls: one call under Claude's name, one result, the plan behind it."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.gemini_tools.names import tool_input, tool_name
from dragoman.harnesses.gemini_tools.plans import plan_of
from dragoman.harnesses.gemini_tools.results import CallResult
from dragoman.model.tools import TODO_WRITE


class CallReports:
    """The calls of one session."""

    def __init__(self, assembler: SessionAssembler) -> None:
        self._assembler = assembler
        self._tools: dict[str, str] = {}
        """The tool of each call without a result, by the name that messages use."""

    def tool_of(self, call_id: str) -> str | None:
        return self._tools.get(call_id)

    def call(self, call_id: str, native: str, given: dict[str, Any]) -> None:
        tool = tool_name(native)
        if not self._assembler.calls.is_known(call_id):
            self._tools[call_id] = tool
        self._assembler.call(call_id, tool, native, tool_input(native, given))

    def result(self, call_id: str, result: CallResult, duration_ms: int | None = None) -> None:
        tool = self._tools.pop(call_id, None)
        given = self._assembler.input_of(call_id)
        if tool == TODO_WRITE and not result.is_error:
            self._assembler.plan(
                plan_of(given)
            )  # first: the call, while it is open, shows the same
        self._assembler.result(
            call_id,
            result.output,
            is_error=result.is_error,
            exit_code=result.exit_code,
            duration_ms=duration_ms,
            status=result.status,
        )
