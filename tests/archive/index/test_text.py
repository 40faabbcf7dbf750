from __future__ import annotations

import pytest

from dragoman.archive.index.text import OUTPUT_HEAD, OUTPUT_TAIL, index_text
from dragoman.model.messages import (
    Compacted,
    Context,
    Message,
    Notice,
    Prompt,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
)


@pytest.mark.parametrize(
    ("message", "kind", "body"),
    [
        (Prompt(text="hello"), "prompt", "hello"),
        (Text(text="hello"), "text", "hello"),
        (Thinking(text="hmm"), "thinking", "hmm"),
        (Notice(level="warning", text="slow"), "notice", "slow"),
        (Compacted(summary="so far"), "compacted", "so far"),
        (
            ToolCall(
                call_id="c",
                tool="Bash",
                native_tool="shell",
                input={"command": ["ls", "-l"], "n": 3, "env": {"deep": "er"}},
            ),
            "tool_call",
            "shell ls -l er",
        ),
        (
            TurnEnded(outcome="failed", error=TurnError("overloaded", "too much", True)),
            "turn_ended",
            "overloaded too much",
        ),
    ],
)
def test_what_is_found_by_what(message: Message, kind: str, body: str) -> None:
    words = index_text(message)

    assert words is not None
    assert (words.kind, words.body) == (kind, body)


@pytest.mark.parametrize(
    "message",
    [
        Context(role="developer", text="be kind"),
        TurnStarted(),
        TurnEnded(outcome="completed"),
        Notice(level="info", text="by the way"),
        Compacted(),
        ToolResult(call_id="c"),
        ToolResult(call_id="c", status="abandoned", is_error=True),
    ],
)
def test_what_nobody_looks_for(message: Message) -> None:
    assert index_text(message) is None


def test_of_a_long_output_the_head_and_the_tail_are_taken() -> None:
    output = "a" * 9000 + "b" * 9000
    words = index_text(ToolResult(call_id="c", output=output, is_error=True))

    assert words is not None
    assert words.is_error
    assert words.body == "a" * OUTPUT_HEAD + "\n" + "b" * OUTPUT_TAIL


def test_a_huge_input_is_not_taken_whole() -> None:
    call = ToolCall(call_id="c", tool="Write", native_tool="Write", input={"a": ["x" * 5000] * 50})
    words = index_text(call)

    assert words is not None
    assert len(words.body) < 7000
