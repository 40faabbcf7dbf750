"""What Copilot's events become: tools, plans, sub-agents, errors, ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.harnesses.copilot import COPILOT
from dragoman.harnesses.copilot.plans import TodoTable
from dragoman.harnesses.copilot.tools import call_of, outcome_of
from dragoman.model.messages import (
    Context,
    Message,
    Plan,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    Unknown,
    UsageReport,
)

_DATA = Path(__file__).parents[2] / "data" / "copilot"


def _read(path: str, ending: Any = "left") -> list[Message]:
    lines = (_DATA / path).read_bytes().splitlines(keepends=True)
    name = COPILOT.sniff(lines)
    dialect = COPILOT.dialect(name or "")
    assert dialect is not None
    parser = dialect.make_parser(only=None, audit=False)
    parser.receive_lines(lines)
    parser.receive_eof(ending)
    return parser.messages()


def _events(*events: tuple[str, dict[str, Any]], ending: Any = "left") -> list[Message]:
    dialect = COPILOT.dialect("copilot-events")
    assert dialect is not None
    parser = dialect.make_parser(only=None, audit=False)
    for number, (kind, data) in enumerate(events):
        line = {"type": kind, "data": data, "id": f"e{number}", "timestamp": "2026-11-19T00:00:00Z"}
        parser.receive_line(json.dumps(line).encode())
    parser.receive_eof(ending)
    return parser.messages()


def _ends(messages: list[Message]) -> list[str]:
    return [each.outcome for each in messages if isinstance(each, TurnEnded)]


def test_the_ledger_counts_what_the_records_hold() -> None:
    for path in sorted(_DATA.glob("*/*.disk.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        used = [row["data"]["usage"] for row in rows if row["type"] == "session.usage_record"]
        messages = _read(path.relative_to(_DATA).as_posix())
        counted = [each.last for each in messages if isinstance(each, UsageReport) and each.last]

        assert sum(each.input_tokens for each in counted) == sum(u["inputTokens"] for u in used)
        assert sum(each.output_tokens for each in counted) == sum(u["outputTokens"] for u in used)
        turns = [each.usage for each in messages if isinstance(each, TurnEnded) and each.usage]
        assert sum(each.input_tokens for each in turns) == sum(u["inputTokens"] for u in used)


def test_a_resumed_session_counts_each_response_once() -> None:
    messages = _read("copilot-events/resumed/wire.jsonl")

    assert [e.usage.total_tokens for e in messages if isinstance(e, TurnEnded) and e.usage] == [
        120
    ] * 4


def test_a_sub_agent_is_a_session_under_its_call() -> None:
    messages = _read("1.0.102/delegate.disk.jsonl")
    started = [each for each in messages if isinstance(each, SessionStarted)]
    main = started[0]
    agent = next(each for each in started if each.parent_session_id)
    task = next(each for each in messages if isinstance(each, ToolCall) and each.tool == "Task")

    assert agent.parent_session_id == main.session_id
    assert agent.parent_call_id == task.call_id
    texts = [(e.session_id, e.text) for e in messages if isinstance(e, Text)]
    assert texts == [(agent.session_id, "sub answer"), (main.session_id, "main answer")]


def test_a_command_that_fails_is_an_error_although_the_tool_succeeded() -> None:
    messages = _read("1.0.102/fail.live.jsonl")
    result = next(each for each in messages if isinstance(each, ToolResult))

    assert (result.output, result.exit_code, result.is_error) == ("bad", 3, True)


def test_a_denied_call_is_declined() -> None:
    messages = _read("copilot-json/07c_deny_tool/wire.jsonl")

    assert [e.status for e in messages if isinstance(e, ToolResult)] == ["declined"]


def test_statements_on_todos_are_the_plan() -> None:
    plans = [each for each in _read("1.0.102/todo.live.jsonl") if isinstance(each, Plan)]

    assert [[(s.text, s.status) for s in each.steps] for each in plans] == [
        [("Do a", "in_progress"), ("Do b", "pending")],
        [("Do a", "completed"), ("Do b", "pending")],
    ]


def test_the_todo_table_follows_plain_statements_only() -> None:
    table = TodoTable()

    steps = table.run("INSERT INTO todos (id, title) VALUES ('a', 'It''s; (one)'), ('b', 'two')")
    assert steps is not None
    assert [step.text for step in steps] == ["It's; (one)", "two"]
    assert table.run("SELECT * FROM todos") is None
    assert table.run("UPDATE todos SET status = 'done' WHERE id IN ('a', 'b')") is not None
    steps = table.run("DELETE FROM todos WHERE id = 'b'")
    assert steps is not None
    assert [(step.text, step.status) for step in steps] == [("It's; (one)", "completed")]
    assert table.run("UPDATE todos SET status = 'done' WHERE priority > 3") is None


def test_a_turn_in_a_file_ends_where_the_next_begins() -> None:
    said: dict[str, Any] = {"messageId": "m1", "content": "Done.", "toolRequests": []}
    messages = _events(
        ("session.start", {"sessionId": "s"}),
        ("user.message", {"content": "one", "messageId": "p1", "delivery": "idle"}),
        ("assistant.message", said),
        ("user.message", {"content": "two", "messageId": "p2", "delivery": "idle"}),
        ending="growing",
    )

    assert _ends(messages) == ["completed"]


def test_a_prompt_that_steers_joins_the_turn() -> None:
    asks = {"messageId": "m1", "content": "", "toolRequests": [{"toolCallId": "c", "name": "bash"}]}
    messages = _events(
        ("user.message", {"content": "one", "messageId": "p1", "delivery": "idle"}),
        ("assistant.message", asks),
        ("user.message", {"content": "no, two", "messageId": "p2", "delivery": "steering"}),
        (
            "tool.execution_complete",
            {"toolCallId": "c", "success": True, "result": {"content": ""}},
        ),
        ("assistant.message", {"messageId": "m2", "content": "Two.", "toolRequests": []}),
    )

    assert _ends(messages) == ["completed"]
    assert {each.turn_id for each in messages if each.turn_id} == {"p1"}


def test_what_wakes_a_resting_agent_begins_a_turn() -> None:
    messages = _read("copilot-json/20_bash_async/wire.jsonl")

    assert _ends(messages) == ["completed", "completed"]
    assert any("has completed" in each.text for each in messages if isinstance(each, Context))


@pytest.mark.parametrize(
    ("name", "outcome", "retryable"),
    [
        ("1.0.102/unauth.live.jsonl", "failed", False),
        ("1.0.102/bad.disk.jsonl", "failed", False),
        ("copilot-json/10_err_500/wire.jsonl", "failed", True),
        ("copilot-json/06_sigint/wire.jsonl", "interrupted", None),
        ("copilot-json/10_err_429_then_ok/wire.jsonl", "completed", None),
    ],
)
def test_how_a_turn_ends(name: str, outcome: str, retryable: bool | None) -> None:
    ended = [each for each in _read(name, "over") if isinstance(each, TurnEnded)]

    assert [each.outcome for each in ended] == [outcome]
    assert (ended[0].error.retryable if ended[0].error else None) == retryable


def test_an_event_of_a_later_release_is_kept() -> None:
    messages = _events(("session.teleported", {"to": "elsewhere"}))

    assert [each.native_type for each in messages if isinstance(each, Unknown)] == [
        "session.teleported"
    ]


def test_tools_have_the_usual_names_and_inputs() -> None:
    given = {"path": "a", "old_str": "b", "new_str": "c"}

    assert call_of("edit", given, None, None) == (
        "Edit",
        {"file_path": "a", "old_string": "b", "new_string": "c"},
    )
    assert call_of("lab-echo", {"x": 1}, "lab", "echo") == ("mcp__lab__echo", {"x": 1})
    patch = "*** Begin Patch\n*** Add File: a\n+one\n*** End Patch"
    tool, made = call_of("apply_patch", patch, None, None)
    assert tool == "Write"
    assert made["changes"] == [{"path": "a", "kind": "add", "diff": "one\n"}]


def test_the_exit_code_is_taken_from_the_text_where_nothing_else_has_it() -> None:
    text = "late\n<shellId: 0 completed with exit code 2>"

    assert outcome_of({"success": True, "result": {"content": text}}, "BashOutput") == (
        "late",
        True,
        2,
        "failed",
    )
