from __future__ import annotations

import pytest

from dragoman.export.base import Include, Options
from dragoman.export.ndjson import NdjsonExporter
from dragoman.model.messages import (
    Context,
    Delta,
    Diff,
    Malformed,
    Message,
    Notice,
    Plan,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    Unknown,
    UsageReport,
)
from dragoman.model.usage import Usage


def ndjson(*messages: Message, include: frozenset[Include] = frozenset()) -> str:
    return NdjsonExporter(Options(include=include)).export(messages).decode()


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            SessionStarted(session_id="sess_123", harness="codex", model="o4-mini"),
            '{"type":"init","session_id":"sess_123","modelId":"o4-mini"}',
        ),
        (SessionStarted(harness="codex"), '{"type":"init"}'),
        (
            Delta(of="text", text="Hello"),
            '{"type":"message","role":"assistant","content":"Hello","delta":true}',
        ),
        (
            Text(text="Hello world"),
            '{"type":"message","role":"assistant","content":"Hello world","delta":false}',
        ),
        (
            Notice(level="error", text="API rate limited"),
            '{"type":"stderr","content":"API rate limited"}',
        ),
        (Notice(level="warning", text="slow"), '{"type":"stderr","content":"slow"}'),
        (
            ToolCall(call_id="c1", tool="Bash", native_tool="shell", input={"command": "ls"}),
            '{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}',
        ),
        (
            ToolResult(call_id="c1", output="no", is_error=True, exit_code=2),
            '{"type":"tool_result","id":"c1","output":"no","is_error":true,"exit_code":2}',
        ),
        (
            ToolResult(call_id="c1", output="ok"),
            '{"type":"tool_result","id":"c1","output":"ok","is_error":false}',
        ),
        (TurnEnded(outcome="interrupted"), '{"type":"result","status":"interrupted"}'),
        (
            TurnEnded(outcome="completed", usage=Usage(5, 4, 0, 3, 2)),
            '{"type":"result","status":"completed","usage":{"input_tokens":5,'
            '"cached_input_tokens":4,"cache_write_input_tokens":0,"output_tokens":3,'
            '"reasoning_output_tokens":2}}',
        ),
        (
            TurnEnded(outcome="failed", error=TurnError("server", "busy", retryable=True)),
            '{"type":"result","status":"failed","error":"busy"}',
        ),
    ],
)
def test_a_message_is_a_line_without_the_keys_it_has_no_value_for(
    message: Message, line: str
) -> None:
    assert ndjson(message) == f"{line}\n"


def test_what_the_stream_has_no_word_for_is_left_out() -> None:
    assert (
        ndjson(
            Prompt(text="fix it"),
            Context(role="developer", text="be careful"),
            TurnStarted(),
            Thinking(text="hm"),
            Delta(of="thinking", text="h"),
            Plan(),
            Diff(unified="diff"),
            UsageReport(),
            Notice(level="info", text="by the way"),
            Unknown(native_type="new", raw="{}"),
            Malformed(raw="not json", problem="not JSON"),
        )
        == ""
    )


def test_messages_come_in_their_order() -> None:
    assert ndjson(
        SessionStarted(session_id="s1", harness="codex"), Delta(of="text", text="Hi")
    ) == (
        '{"type":"init","session_id":"s1"}\n'
        '{"type":"message","role":"assistant","content":"Hi","delta":true}\n'
    )


def test_what_the_model_was_given_comes_with_context() -> None:
    given = ndjson(
        Context(role="developer", text="be careful"),
        Prompt(text="fix it"),
        include=frozenset({"context"}),
    )

    assert given == (
        '{"type":"message","role":"developer","content":"be careful","delta":false}\n'
        '{"type":"message","role":"user","content":"fix it","delta":false}\n'
    )


def test_raw_lines_come_when_asked_for() -> None:
    asked = ndjson(
        Unknown(native_type="new", raw='{"a":1}'),
        Malformed(raw="oops", problem="not JSON"),
        include=frozenset({"raw"}),
    )

    assert asked == '{"type":"raw","content":"{\\"a\\":1}"}\n{"type":"raw","content":"oops"}\n'
