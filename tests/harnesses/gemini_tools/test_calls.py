"""Calls under Claude's names, each with one result and the plan behind it."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.gemini_tools.calls import CallReports
from dragoman.harnesses.gemini_tools.results import CallResult
from dragoman.model.messages import Message, Plan, ToolCall, ToolResult

_DONE = CallResult("done", False, None, "completed")
_FAILED = CallResult("no", True, None, "failed")


def _reported(*results: CallResult) -> list[Message]:
    out = Output(audit=False)
    reports = CallReports(SessionAssembler(out, "toy", "s"))
    todos: dict[str, Any] = {"todos": [{"description": "Look", "status": "in_progress"}]}
    for number, result in enumerate(results):
        reports.call(f"c{number}", "write_todos", todos)
        assert reports.tool_of(f"c{number}") == "TodoWrite"
        reports.result(f"c{number}", result, duration_ms=7)
    return out.take_messages()


def test_a_call_has_its_shared_name_and_one_result() -> None:
    messages = _reported(_DONE)

    (call,) = [each for each in messages if isinstance(each, ToolCall)]
    (result,) = [each for each in messages if isinstance(each, ToolResult)]
    assert (call.tool, call.native_tool) == ("TodoWrite", "write_todos")
    assert (result.output, result.duration_ms) == ("done", 7)


def test_a_plan_counts_once_its_call_has_worked() -> None:
    plans = [each for each in _reported(_FAILED, _DONE) if isinstance(each, Plan)]

    assert [[step.text for step in each.steps] for each in plans] == [["Look"]]
