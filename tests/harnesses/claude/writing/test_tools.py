from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.claude.writing.tools import ClaudeCall, as_claude
from support.handoff import use


def _written(tool: str, given: dict[str, Any], **result: Any) -> list[ClaudeCall]:
    return as_claude(use(tool, given, **result), is_native=False)


@pytest.mark.parametrize(
    ("tool", "given", "name", "expected"),
    [
        ("Bash", {"command": "ls", "cwd": "/x"}, "Bash", {"command": "ls"}),
        (
            "Bash",
            {"command": "ls", "description": "list"},
            "Bash",
            {"command": "ls", "description": "list"},
        ),
        ("Read", {"file_path": "/a", "offset": 3}, "Read", {"file_path": "/a", "offset": 3}),
        ("Glob", {"pattern": "*", "path": None}, "Glob", {"pattern": "*"}),
        ("WebSearch", {"query": "x"}, "WebSearch", {"query": "x"}),
        (
            "Task",
            {"prompt": "count files"},
            "Agent",
            {
                "description": "count files",
                "prompt": "count files",
                "subagent_type": "general-purpose",
            },
        ),
        (
            "TodoWrite",
            {"todos": [{"content": "a"}]},
            "TodoWrite",
            {"todos": [{"content": "a", "status": "pending", "activeForm": "a"}]},
        ),
        ("mcp__lab__echo", {"text": "hi"}, "mcp__lab__echo", {"text": "hi"}),
    ],
)
def test_a_call_has_the_input_that_the_tool_takes(
    tool: str, given: dict[str, Any], name: str, expected: dict[str, Any]
) -> None:
    assert _written(tool, given, output="x") == [ClaudeCall(name, expected, "x", False)]


def test_a_failing_command_begins_with_its_exit_code() -> None:
    [call] = _written("Bash", {"command": "x"}, output="no", exit_code=3, is_error=True)

    assert (call.output, call.is_error) == ("Exit code 3\nno", True)


def test_a_patch_is_one_call_for_each_change() -> None:
    changes = [
        {"path": "/new", "kind": "add", "diff": "x\n"},
        {"path": "/a", "kind": "update", "diff": "@@\n-1\n+2\n@@\n-3\n+4\n"},
    ]

    assert [(call.name, call.input) for call in _written("Edit", {"changes": changes})] == [
        ("Write", {"file_path": "/new", "content": "x\n"}),
        ("Edit", {"file_path": "/a", "old_string": "1", "new_string": "2"}),
        ("Edit", {"file_path": "/a", "old_string": "3", "new_string": "4"}),
    ]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"changes": [{"path": "/a", "kind": "delete"}]}),
        ("Edit", {"changes": [{"path": "/a", "kind": "update", "move_path": "/b"}]}),
        ("update_topic", {"title": "x"}),
        ("Bash", {}),
        ("Read", {}),
        ("Task", {}),
        ("TodoWrite", {}),
        ("mcp__a b__c", {}),
    ],
)
def test_other_calls_are_left_to_the_caller(tool: str, given: dict[str, Any]) -> None:
    assert _written(tool, given) == []


def test_its_own_calls_stay_as_they_are() -> None:
    given = {"taskId": "1", "odd": True}

    assert as_claude(use("TaskUpdate", given, "ok"), is_native=True) == [
        ClaudeCall("TaskUpdate", given, "ok", False)
    ]
