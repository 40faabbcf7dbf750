from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from dragoman.export.base import Include, Options
from dragoman.export.unified import UnifiedExporter
from dragoman.model.messages import (
    Context,
    Delta,
    Malformed,
    Message,
    Notice,
    Plan,
    PlanStep,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
    UsageReport,
)

AT = datetime(2025, 10, 28, 22, 42, 36, 506000, tzinfo=UTC)
STARTED = SessionStarted(session_id="s", harness="codex")
CALL = ToolCall(
    session_id="s",
    line=2,
    call_id="item_1",
    tool="Bash",
    native_tool="command_execution",
    input={"command": "ls"},
)
RESULT = ToolResult(session_id="s", line=2, call_id="item_1", output="file1\nfile2", exit_code=0)
TOOL_USE = {"type": "tool_use", "id": "item_1", "name": "Bash", "input": {"command": "ls"}}
TOOL_RESULT = {
    "type": "tool_result",
    "tool_use_id": "item_1",
    "content": "file1\nfile2",
    "is_error": False,
}


def unified(
    *messages: Message,
    include: frozenset[Include] = frozenset(),
    lines: dict[int, bytes] | None = None,
) -> list[dict[str, Any]]:
    options = Options(include=include, source_line=(lines or {}).get)
    written = UnifiedExporter(options).export([STARTED, *messages])
    return [msgspec.json.decode(line) for line in written.split(b"\n") if line]


def test_a_command_first_heard_of_when_done_is_one_message_with_call_and_result() -> None:
    source = b'{"type":"item.completed","item":{"id":"item_1"}}'

    assert unified(CALL, RESULT, lines={2: source}) == [
        {
            "id": "item_1",
            "role": "assistant",
            "content": [TOOL_USE, TOOL_RESULT],
            "timestamp": None,
            "tool": "codex",
            "_original": {"type": "item.completed", "item": {"id": "item_1"}},
        }
    ]


def test_a_call_and_a_result_from_two_lines_are_two_messages() -> None:
    later = msgspec.structs.replace(RESULT, line=3)

    made = unified(CALL, later)

    assert [each["content"] for each in made] == [[TOOL_USE], [TOOL_RESULT]]
    assert [each["id"] for each in made] == ["item_1", "msg_a0b40280e7ee124d"]


def test_a_batch_ends_a_message() -> None:
    exporter = UnifiedExporter(Options())

    assert exporter.export([CALL]).count(b"\n") == 1
    assert exporter.export([RESULT]).count(b"\n") == 1


def test_messages_without_a_source_line_stay_apart() -> None:
    assert len(unified(Text(session_id="s", text="a"), Text(session_id="s", text="b"))) == 2


def test_sessions_and_roles_stay_apart_even_on_one_line() -> None:
    made = unified(
        Prompt(session_id="s", line=1, text="a"),
        Text(session_id="s", line=1, text="b"),
        TurnStarted(session_id="s", line=1),
        Text(session_id="s", line=1, text="c"),
        Text(session_id="other", line=1, text="d"),
    )

    assert [(each["role"], len(each["content"]), each["tool"]) for each in made] == [
        ("user", 1, "codex"),
        ("assistant", 2, "codex"),
        ("assistant", 1, None),
    ]


@pytest.mark.parametrize(
    ("message", "role", "block"),
    [
        (Prompt(session_id="s", text="Hello"), "user", {"type": "text", "text": "Hello"}),
        (
            Thinking(session_id="s", text="Planning..."),
            "assistant",
            {"type": "thinking", "thinking": "Planning..."},
        ),
        (
            Text(session_id="s", text="I am Codex"),
            "assistant",
            {"type": "text", "text": "I am Codex"},
        ),
        (
            ToolResult(session_id="s", call_id="call_123", output="error", is_error=True),
            "assistant",
            {
                "type": "tool_result",
                "tool_use_id": "call_123",
                "content": "error",
                "is_error": True,
            },
        ),
    ],
)
def test_each_thing_said_is_a_block(message: Message, role: str, block: object) -> None:
    [made] = unified(message)

    assert (made["role"], made["content"]) == (role, [block])


def test_a_timestamp_counts_milliseconds() -> None:
    [made] = unified(Text(session_id="s", at=AT, text="Hello"))

    assert made["timestamp"] == 1761691356506


def test_a_text_has_its_own_id_and_otherwise_one_that_never_changes() -> None:
    [own] = unified(Text(session_id="s", line=1, text="Hello", message_id="item_0"))
    [made] = unified(Text(session_id="s", line=1, text="Hello"))
    [again] = unified(Text(session_id="s", line=1, text="Hello"))
    [elsewhere] = unified(Text(session_id="s", line=2, text="Hello"))

    assert own["id"] == "item_0"
    assert made["id"] == again["id"] == "msg_02c89b15e18b85ef"
    assert made["id"] != elsewhere["id"]


def test_a_plan_is_a_todo_call_with_its_result_unless_a_call_has_said_it() -> None:
    plan = Plan(session_id="s", line=4, steps=[PlanStep("look")])
    call = ToolCall(session_id="s", line=3, call_id="c1", tool="TodoWrite", native_tool="plan")
    result = ToolResult(session_id="s", line=5, call_id="c1")
    ended = TurnEnded(session_id="s", outcome="completed")

    [made] = unified(plan)

    assert (made["id"], [each["type"] for each in made["content"]]) == (
        "plan_4",
        ["tool_use", "tool_result"],
    )
    assert [each["id"] for each in unified(call, plan)] == ["c1"]
    assert [each["id"] for each in unified(call, ended, plan)] == ["c1", "plan_4"]
    assert len(unified(call, result, plan)) == 3


@pytest.mark.parametrize(
    ("line", "original"),
    [
        (b' {"a" : 1.0}\r', {"a": 1.0}),
        (b"warning: low disk", "warning: low disk"),
        (b'{"a":"\xff"}', '{"a":"\ufffd"}'),
        ('{"a":"\ufffd"}'.encode(), {"a": "\ufffd"}),
    ],
    ids=["JSON", "not JSON", "not UTF-8", "the replacement character itself"],
)
def test_the_original_is_the_source_line(line: bytes, original: object) -> None:
    [made] = unified(Text(session_id="s", line=1, text="Hello"), lines={1: line})

    assert made["_original"] == original


def test_what_is_not_said_by_anyone_is_left_out() -> None:
    assert (
        unified(
            TurnStarted(session_id="s"),
            UsageReport(session_id="s"),
            Notice(session_id="s", level="error", text="busy"),
            Delta(session_id="s", of="text", text="He"),
            Context(session_id="s", role="developer", text="be careful"),
            Unknown(session_id="s", native_type="new", raw="{}"),
            Malformed(session_id="s", raw="oops", problem="not JSON"),
            TurnEnded(session_id="s", outcome="completed"),
        )
        == []
    )


def test_context_comes_when_asked_for() -> None:
    asked = unified(
        Context(session_id="s", line=1, role="developer", text="be careful"),
        Context(session_id="s", line=1, role="user", text="AGENTS.md"),
        include=frozenset({"context"}),
    )

    assert [(each["role"], each["content"]) for each in asked] == [
        ("system", [{"type": "text", "text": "be careful"}]),
        ("user", [{"type": "text", "text": "AGENTS.md"}]),
    ]


def test_raw_lines_come_when_asked_for() -> None:
    [made] = unified(
        Unknown(session_id="s", line=1, native_type="new", raw='{"type":"new"}'),
        include=frozenset({"raw"}),
        lines={1: b'{"type":"new"}'},
    )

    assert (made["role"], made["content"], made["_original"]) == ("system", [], {"type": "new"})


def test_a_todo_list_has_the_same_fields_whatever_the_dialect() -> None:
    call = ToolCall(
        call_id="c",
        tool="TodoWrite",
        native_tool="update_plan",
        input={"todos": [{"content": "a", "status": "pending"}]},
    )
    exporter = UnifiedExporter(Options())

    [block] = msgspec.json.decode(exporter.export([call]))["content"]

    assert block["input"]["todos"] == [{"content": "a", "status": "pending", "activeForm": "a"}]
