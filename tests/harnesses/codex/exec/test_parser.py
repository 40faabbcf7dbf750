from __future__ import annotations

import json
from typing import Any

import dragoman
from dragoman import (
    Malformed,
    Message,
    Notice,
    SessionStarted,
    Text,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
)


def told(*lines: dict[str, Any] | str, dialect: str = "codex-exec") -> list[Message]:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return list(dragoman.read(texts, dialect=dialect))


_BEGIN: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "turn.started"},
]


def _command(event: str, **fields: Any) -> dict[str, Any]:
    item = {"id": "i1", "type": "command_execution", "command": "bash -lc ls", **fields}
    return {"type": f"item.{event}", "item": item}


def test_a_turn_without_an_end_was_interrupted() -> None:
    assert [type(message) for message in told(*_BEGIN)] == [SessionStarted, TurnStarted, TurnEnded]
    ended = told(*_BEGIN)[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "interrupted"


def test_an_item_that_completes_without_having_started_is_a_call_and_its_result() -> None:
    done = _command("completed", aggregated_output="a\n", exit_code=0, status="completed")
    call, result = told(*_BEGIN, done)[2:4]
    assert (call.line, result.line) == (3, 3)
    assert isinstance(result, ToolResult)
    assert (result.output, result.exit_code, result.is_error) == ("a\n", 0, False)


def test_an_update_of_an_item_tells_nothing_twice() -> None:
    lines = [
        _command("started", status="in_progress"),
        _command("updated", status="in_progress", aggregated_output="a"),
        _command("completed", status="failed", aggregated_output="a\nb\n", exit_code=2),
    ]
    kinds = [dragoman.encode(message)[:20] for message in told(*_BEGIN, *lines)]
    assert len([kind for kind in kinds if b"tool_call" in kind]) == 1
    results = [each for each in told(*_BEGIN, *lines) if isinstance(each, ToolResult)]
    assert [(each.status, each.exit_code) for each in results] == [("failed", 2)]


def test_an_error_that_is_being_retried_says_so() -> None:
    message = told(*_BEGIN, {"type": "error", "message": "Reconnecting... 1/5"})[2]
    assert message == Notice(
        session_id="t1", turn_id="turn-1", line=3, level="warning", text="Reconnecting... 1/5",
        will_retry=True,
    )  # fmt: skip


def test_a_turn_that_failed_says_why() -> None:
    line = {"type": "turn.failed", "error": {"message": "exceeded retry limit, last status: 429"}}
    ended = told(*_BEGIN, line)[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.error is not None
    assert ended.error.message == "exceeded retry limit, last status: 429"
    assert ended.error.retryable


def test_a_second_session_in_the_same_stream_begins_anew() -> None:
    messages = told(
        *_BEGIN,
        {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 1}},
        {"type": "thread.started", "thread_id": "t2"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "hi"}},
        {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 2}},
    )
    texts = [message for message in messages if isinstance(message, Text)]
    assert [text.session_id for text in texts] == ["t2"]


def test_an_item_of_a_new_type_is_kept_as_it_came() -> None:
    line = {"type": "item.completed", "item": {"id": "i9", "type": "hologram", "shape": "cat"}}
    kept = told(*_BEGIN, line)[2]
    assert isinstance(kept, Unknown)
    assert kept.native_type == "item hologram"
    assert json.loads(kept.raw) == line


def test_a_line_of_a_new_type_is_kept_as_it_came() -> None:
    kept = told(*_BEGIN, {"type": "weather.changed", "to": "rain"})[2]
    assert isinstance(kept, Unknown)
    assert kept.native_type == "weather.changed"


def test_words_between_the_lines_are_kept() -> None:
    kept = told(*_BEGIN, "Reading prompt from stdin...")[2]
    assert isinstance(kept, Malformed)
    assert kept.raw == "Reading prompt from stdin..."


def test_in_the_experimental_form_an_error_fails_the_turn_that_it_opens() -> None:
    messages = told(
        {"type": "session.created", "session_id": "s"},
        {"type": "error", "message": "unexpected status 401 Unauthorized"},
        dialect="codex-exec-experimental",
    )
    assert [type(message) for message in messages] == [SessionStarted, TurnStarted, TurnEnded]
    ended = messages[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "failed"


def test_a_second_start_without_agents_means_that_the_first_turn_was_left() -> None:
    messages = told(*_BEGIN, {"type": "turn.started"})
    ends = [message for message in messages if isinstance(message, TurnEnded)]
    assert [end.outcome for end in ends] == ["interrupted", "interrupted"]
