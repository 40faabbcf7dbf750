"""What the messages of a story must say, whether they were emitted live or read from a program's output."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from dragoman.model.messages import (
    BaseMessage,
    Message,
    Plan,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
)

WORK = """\
turns:
- - think: I look first.
  - say: I will look.
  - plan: [doing: Look, todo: Fix]
  - run: sort note.txt
  - run: "echo before; exit 3"
  - edit: {path: note.txt, old: old, new: new}
  - mcp: {server: tickets, tool: find, arguments: {number: T-7}}
  - agent: "HELPER: compute"
  - tokens: {input: 1234, cached: 1000, output: 56, reasoning: 7}
  - say: All done.
- when: HELPER
  steps: [{run: echo from the helper}, {say: It is 7.}]
"""
_Kind = TypeVar("_Kind", bound=BaseMessage)


def of(kind: type[_Kind], messages: list[Message]) -> list[_Kind]:
    """The messages of one kind."""
    return [message for message in messages if isinstance(message, kind)]


def thinking(messages: list[Message]) -> None:
    assert "I look first." in "".join(each.text for each in of(Thinking, messages))


def command(messages: list[Message]) -> None:
    result = _result(messages, "sort note.txt")
    assert (result.is_error, result.status) == (False, "completed"), result
    assert "end\nold" in result.output, result.output


def failing_command(messages: list[Message]) -> None:
    """Exit code 3 is an error everywhere."""
    result = _result(messages, "echo before; exit 3")
    assert result.is_error, result
    assert result.exit_code == 3, result
    assert "before" in result.output, result


def edit(messages: list[Message], repo: Path) -> None:
    assert (repo / "note.txt").read_text(encoding="utf-8") == "new\nend\n"
    calls = [each for each in of(ToolCall, messages) if each.tool in ("Edit", "Write")]
    assert len(calls) == 1, [each.tool for each in of(ToolCall, messages)]
    assert "note.txt" in str(calls[0].input)
    (result,) = [each for each in of(ToolResult, messages) if each.call_id == calls[0].call_id]
    assert not result.is_error, result


def plan(messages: list[Message]) -> None:
    plans = of(Plan, messages)
    assert plans, "no plan"
    steps = [(step.text, step.status) for step in plans[-1].steps]
    assert steps == [("Look", "in_progress"), ("Fix", "pending")], steps


def mcp_call(messages: list[Message]) -> None:
    calls = [each for each in of(ToolCall, messages) if each.tool == "mcp__tickets__find"]
    assert len(calls) == 1, [each.tool for each in of(ToolCall, messages)]
    assert calls[0].input == {"number": "T-7"}, calls[0].input
    (result,) = [each for each in of(ToolResult, messages) if each.call_id == calls[0].call_id]
    assert "the broken door" in result.output, result


def sub_agent(messages: list[Message], *, waits: bool = True) -> None:
    """``waits``: the call returns with the sub-agent's answer, not before it works."""
    calls = [each for each in of(ToolCall, messages) if each.tool == "Task"]
    assert len(calls) == 1, [each.tool for each in of(ToolCall, messages)]
    assert "HELPER: compute" in str(calls[0].input), calls[0].input
    results = [each for each in of(ToolResult, messages) if each.call_id == calls[0].call_id]
    assert len(results) == 1, results
    assert not results[0].is_error, results[0]
    assert not waits or "It is 7." in results[0].output, results[0]


def answer(messages: list[Message]) -> None:
    (ended,) = _own_ends(messages)
    assert ended.outcome == "completed", ended
    texts = [each.text for each in of(Text, messages)]
    assert "All done." in texts, texts
    assert texts.index("All done.") == len(texts) - 1, texts


def tokens(messages: list[Message]) -> None:
    (ended,) = _own_ends(messages)
    usage = ended.usage
    assert usage is not None, "no usage"
    assert usage.output_tokens >= 56, usage
    assert usage.input_tokens >= 1234, usage


def _own_ends(messages: list[Message]) -> list[TurnEnded]:
    first = next(each.session_id for each in messages if each.session_id)
    return [each for each in of(TurnEnded, messages) if each.session_id == first]


def _result(messages: list[Message], command: str) -> ToolResult:
    calls = [each for each in of(ToolCall, messages) if each.input.get("command") == command]
    assert len(calls) == 1, [each.input for each in of(ToolCall, messages)]
    assert calls[0].tool == "Bash", calls[0]
    results = [each for each in of(ToolResult, messages) if each.call_id == calls[0].call_id]
    assert len(results) == 1, results
    return results[0]
