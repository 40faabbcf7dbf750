"""The tools of agents that speak ACP, wherever they name them."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.acp.quirks import GEMINI, OPENCODE, PLAIN, AcpQuirks
from dragoman.harnesses.acp.tools import (
    CallFacts,
    ToolUse,
    approval_kind,
    block_text,
    cwd_shown,
    native_name,
    texts_of,
    use_of,
)


@pytest.mark.parametrize(
    ("update", "quirks", "name"),
    [
        ({"name": "Bash", "title": "Terminal"}, PLAIN, "Bash"),
        ({"_meta": {"toolName": "edit"}}, PLAIN, "edit"),
        ({"_meta": {"claudeCode": {"toolName": "Agent"}}}, PLAIN, "Agent"),
        ({"toolCallId": "read_file__read_file_17_0"}, GEMINI, "read_file"),
        ({"toolCallId": "read_file__read_file_17_0"}, PLAIN, None),
        ({"title": "bash", "status": "pending"}, OPENCODE, "bash"),
        ({"title": "ls -l", "status": "pending"}, OPENCODE, None),
        ({"title": "bash", "status": "completed"}, OPENCODE, None),
        ({"title": "make"}, PLAIN, None),
    ],
)
def test_a_name_is_in_one_of_four_places(
    update: dict[str, Any], quirks: AcpQuirks, name: str | None
) -> None:
    assert native_name(update, quirks) == name


def _use(**facts: Any) -> ToolUse:
    given: dict[str, Any] = {
        "name": None, "title": "", "kind": "", "input": {}, "content": [], "locations": [],
    }  # fmt: skip
    return use_of(CallFacts(**{**given, **facts}), servers=("lab",))


@pytest.mark.parametrize(
    ("facts", "tool", "given"),
    [
        ({"kind": "execute", "input": {"command": "ls"}, "title": "list"}, "Bash", {"command": "ls"}),
        ({"kind": "execute", "title": "ls -l"}, "Bash", {"command": "ls -l"}),
        (
            {"kind": "execute", "title": "ls [current working directory /w] (list)"},
            "Bash",
            {"command": "ls"},
        ),
        ({"name": "view", "input": {"path": "/a"}}, "Read", {"file_path": "/a"}),
        (
            {"name": "edit", "input": {"filePath": "/a", "oldString": "x", "newString": "y"}},
            "Edit",
            {"file_path": "/a", "old_string": "x", "new_string": "y"},
        ),
        (
            {"name": "create", "input": {"path": "/a", "file_text": "x"}},
            "Write",
            {"file_path": "/a", "content": "x"},
        ),
        ({"kind": "edit", "input": {"path": "/a", "old_str": "x"}}, "Edit", {"file_path": "/a", "old_string": "x"}),
        (
            {"kind": "edit", "content": [{"type": "diff", "path": "/a", "oldText": "", "newText": "x"}]},
            "Write",
            {"file_path": "/a", "content": "x"},
        ),
        (
            {"kind": "edit", "content": [{"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}]},
            "Edit",
            {"file_path": "/a", "old_string": "x", "new_string": "y"},
        ),
        (
            {"kind": "edit", "content": [{"type": "diff", "path": "/a", "oldText": "a\nx\nb\n", "newText": "a\ny\nz\nb\n"}]},
            "Edit",
            {"file_path": "/a", "old_string": "x", "new_string": "y\nz"},
        ),
        (
            {"kind": "edit", "content": [{"type": "diff", "path": "/a", "oldText": "a\nb\n", "newText": "a\n"}]},
            "Edit",
            {"file_path": "/a", "old_string": "a\nb\n", "new_string": "a\n"},
        ),
        ({"kind": "read", "locations": [{"path": "/a"}]}, "Read", {"file_path": "/a"}),
        ({"name": "lab_add", "input": {"a": 2}}, "mcp__lab__add", {"a": 2}),
        ({"name": "lab-add", "input": {"a": 2}}, "mcp__lab__add", {"a": 2}),
        (
            {
                "name": "mcp_lab_echo",
                "title": "echo (lab MCP Server)",
                "content": [{"type": "content", "content": {"type": "text", "text": '{"a":1}'}}],
            },
            "mcp__lab__echo",
            {"a": 1},
        ),
        (
            {"name": "write_todos", "input": {"todos": [{"description": "Look", "status": "pending"}]}},
            "TodoWrite",
            {"todos": [{"content": "Look", "status": "pending"}]},
        ),
        ({"name": "invoke_agent", "input": {"agent_name": "x"}}, "Task", {"subagent_type": "x"}),
        ({"kind": "search", "input": {"pattern": "**/*.py"}}, "Glob", {"pattern": "**/*.py"}),
        ({"kind": "search", "input": {"pattern": "x", "path": "/"}}, "Grep", {"pattern": "x", "path": "/"}),
        ({"kind": "other", "title": "dance"}, "dance", {}),
        (
            {"kind": "execute", "title": "mcp.lab.find", "input": {"server": "lab", "tool": "find", "arguments": {"a": 1}}},
            "mcp__lab__find",
            {"a": 1},
        ),
        (
            {
                "kind": "edit",
                "content": [
                    {"type": "diff", "path": "/a", "oldText": "x\ny\n", "newText": "z\ny\n"},
                    {"type": "diff", "path": "/b", "newText": "new\n"},
                ],
            },
            "Edit",
            {
                "changes": [
                    {"path": "/a", "kind": "update", "diff": "@@ -1,2 +1,2 @@\n-x\n+z\n y\n"},
                    {"path": "/b", "kind": "add", "diff": "new\n"},
                ]
            },
        ),
        ({"title": "spawnAgent", "input": {"senderThreadId": "t", "prompt": "x"}}, "Task", {"prompt": "x"}),
        (
            {"title": "wait", "input": {"senderThreadId": "t", "receiverThreadIds": ["u"]}},
            "TaskOutput",
            {"agent_ids": ["u"]},
        ),
    ],
)  # fmt: skip
def test_tools_have_the_names_and_inputs_that_all_harnesses_share(
    facts: dict[str, Any], tool: str, given: dict[str, Any]
) -> None:
    use = _use(**facts)

    assert (use.tool, use.input) == (tool, given)


def test_blocks_that_are_no_text_are_named() -> None:
    content = [
        {"type": "content", "content": {"type": "image", "data": "AA"}},
        {"type": "content", "content": {"type": "resource_link", "uri": "file:///a"}},
        {"type": "diff", "path": "/a"},
    ]

    assert texts_of(content) == ["[image]", "file:///a"]
    assert block_text({"type": "resource", "resource": {"text": "x"}}) == "x"
    assert block_text({}) == ""


def test_a_directory_may_be_shown_beside_the_command() -> None:
    shown = {
        "type": "content",
        "content": {"type": "text", "text": "[current working directory /w"},
    }

    assert cwd_shown([shown]) == "/w"
    assert cwd_shown([]) is None


@pytest.mark.parametrize(
    ("tool", "kind", "expected"),
    [("Bash", "", "command"), ("x", "execute", "command"), ("Edit", "", "edit"), ("x", "delete", "edit"), ("x", "read", "tool")],
)  # fmt: skip
def test_an_approval_is_about_a_command_an_edit_or_a_tool(
    tool: str, kind: str, expected: str
) -> None:
    assert approval_kind(tool, kind) == expected
