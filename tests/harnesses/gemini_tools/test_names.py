from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.gemini_tools.names import native_of_call, tool_input, tool_name


@pytest.mark.parametrize(
    ("native", "tool"),
    [
        ("run_shell_command", "Bash"),
        ("replace", "Edit"),
        ("edit", "Edit"),
        ("search_file_content", "Grep"),
        ("write_todos", "TodoWrite"),
        ("invoke_agent", "Task"),
        ("agent", "Task"),
        ("mcp_lab_echo_it", "mcp__lab__echo_it"),
        ("mcp__lab__echo_it", "mcp__lab__echo_it"),
        ("mcp_lab", "mcp_lab"),
        ("update_topic", "update_topic"),
    ],
)
def test_a_tool_has_the_name_that_messages_use(native: str, tool: str) -> None:
    assert tool_name(native) == tool


@pytest.mark.parametrize(
    ("native", "given", "shown"),
    [
        (
            "read_file",
            {"absolute_path": "/a", "start_line": 3, "end_line": 5},
            {"file_path": "/a", "offset": 3, "limit": 3},
        ),
        ("read_file", {"file_path": "/a", "start_line": 3}, {"file_path": "/a", "offset": 3}),
        (
            "read_file",
            {"file_path": "/a", "start_line": 9, "end_line": 5},
            {"file_path": "/a", "offset": 9, "end_line": 5},
        ),
        ("grep_search", {"pattern": "x", "dir_path": "."}, {"pattern": "x", "path": "."}),
        ("glob", {"dir_path": ".", "path": "b"}, {"dir_path": ".", "path": "b"}),
        ("run_shell_command", {"is_background": True}, {"run_in_background": True}),
        ("invoke_agent", {"agent_name": "g"}, {"subagent_type": "g"}),
        (
            "write_todos",
            {"todos": [{"description": "a", "status": "pending"}, "b", {"content": "c"}]},
            {"todos": [{"content": "a", "status": "pending"}, "b", {"content": "c"}]},
        ),
        ("unheard_of", {"dir_path": 1}, {"dir_path": 1}),
    ],
)
def test_an_input_has_the_keys_that_messages_use_and_loses_none(
    native: str, given: dict[str, Any], shown: dict[str, Any]
) -> None:
    assert tool_input(native, given) == shown


def test_the_id_of_a_call_names_its_tool() -> None:
    assert native_of_call("read_file__read_file_1794782284768_0") == "read_file"
    assert native_of_call("call_1") is None
