from __future__ import annotations

from dragoman.model import tools

NAMES = {name: value for name, value in vars(tools).items() if name.isupper()}


def test_tools_go_by_the_names_that_claude_gave_them() -> None:
    assert (tools.BASH, tools.EDIT, tools.WRITE, tools.READ) == ("Bash", "Edit", "Write", "Read")
    assert (tools.TODO_WRITE, tools.TASK, tools.WEB_SEARCH) == ("TodoWrite", "Task", "WebSearch")
    assert tools.ASK_USER == "AskUserQuestion"


def test_no_two_tools_have_the_same_name() -> None:
    assert len(set(NAMES.values())) == len(NAMES) > 15


def test_names_begin_with_a_capital_so_that_they_cannot_be_taken_for_native_ones() -> None:
    assert [name for name in NAMES.values() if not name[0].isupper()] == []


def test_the_tool_of_an_mcp_server_carries_the_name_of_the_server() -> None:
    assert tools.mcp_tool("tiny", "add") == "mcp__tiny__add"
