"""Sub-agents and forks in Claude's format."""

from __future__ import annotations

import msgspec

from dragoman.model.messages import (
    Message,
    SessionStarted,
    Text,
    ToolCall,
    TurnEnded,
)
from dragoman.model.usage import Usage
from support.claude.exported import PLAN, claude, raw_lines

CHILD: list[Message] = [
    SessionStarted(session_id="child", harness="codex", parent_session_id="s"),
    Text(session_id="child", line=1, text="Looks good."),
    ToolCall(session_id="child", line=2, call_id="c9", tool="Bash", native_tool="shell"),
    TurnEnded(session_id="child", outcome="completed", usage=Usage(10, 0, 0, 5)),
]


def test_the_lines_of_a_sub_agent_name_the_newest_task_call_of_its_parent() -> None:
    tasks = [
        ToolCall(session_id="s", call_id=call_id, tool="Task", native_tool="spawn_agent")
        for call_id in ("t1", "t2")
    ]

    lines = claude(*tasks, *CHILD, Text(session_id="s", text="back"))[2:]

    assert [line.get("parent_tool_use_id") for line in lines] == ["t2"] * 4 + [None]
    assert [line["session_id"] for line in lines] == ["child"] * 4 + ["s"]


def test_the_end_of_a_sub_agents_turn_is_not_a_result() -> None:
    task = ToolCall(session_id="s", call_id="t1", tool="Task", native_tool="spawn_agent")

    assert claude(task, *CHILD)[-1] == {
        "type": "system",
        "subtype": "task_notification",
        "task_id": "child",
        "tool_use_id": "t1",
        "status": "completed",
        "output_file": "",
        "summary": "Looks good.",
        "usage": {"total_tokens": 15, "tool_uses": 1, "duration_ms": 0},
        "session_id": "child",
        "parent_tool_use_id": "t1",
    }


def test_a_sub_agent_whose_parent_is_not_here_is_a_session_like_any_other() -> None:
    lines = claude(*CHILD)

    assert [line.get("parent_tool_use_id") for line in lines] == [None] * 4
    assert lines[-1]["type"] == "result"


def test_a_sub_agent_starts_as_a_task_and_only_once() -> None:
    task = ToolCall(
        session_id="s",
        call_id="t1",
        tool="Task",
        native_tool="spawn_agent",
        input={"prompt": "Check it."},
    )
    known_better = msgspec.structs.replace(CHILD[0], model="gpt-5.5")

    started, said = claude(task, CHILD[0], known_better, CHILD[1])[1:]

    assert started == {
        "type": "system",
        "subtype": "task_started",
        "task_id": "child",
        "tool_use_id": "t1",
        "description": "Check it.",
        "task_type": "local_agent",
        "prompt": "Check it.",
        "session_id": "child",
        "parent_tool_use_id": "t1",
    }
    assert said["message"]["model"] == "gpt-5.5"


def test_a_fork_is_a_session_of_its_own() -> None:
    lines = claude(SessionStarted(session_id="s", harness="codex"), *CHILD)

    assert [line.get("subtype") for line in lines[:2]] == ["init", "init"]
    assert lines[-1]["type"] == "result"


def test_ids_depend_on_the_source_alone() -> None:
    said = [PLAN, Text(session_id="s", line=5, text="a"), Text(session_id="o", line=5, text="b")]

    ids = [line["uuid"] for line in raw_lines(*said)]

    assert len(set(ids)) == 4
    assert [line["uuid"] for line in raw_lines(said[1])] == ids[2:3]
