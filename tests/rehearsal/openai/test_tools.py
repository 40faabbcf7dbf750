from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.rehearsal.openai.tools import ResponsesTools
from dragoman.rehearsal.script import Call, Mcp, Patch, Plan, PlanStep, Run, Tool

_RUN = Run("ls -l", "It is needed.", "/w", 5)


def _function(name: str, *options: str) -> dict[str, Any]:
    properties = {option: {"type": "string"} for option in options}
    return {"type": "function", "name": name, "parameters": {"properties": properties}}


def _arguments(item: dict[str, Any] | None) -> Any:
    assert item is not None
    return item["name"], json.loads(item["arguments"])


def _code_mode(*names: str) -> dict[str, Any]:
    """How code mode offers its tools: as a description, in an item of the input."""
    words = "\n".join(
        f"### `{name}`\nexec tool declaration:\n  sandbox_permissions?: string;\n  yield_time_ms?: n;"
        for name in names
    )
    tool = {"type": "custom", "name": "exec", "description": words}
    offered = [{"type": "namespace", "name": "functions", "tools": [tool]}]
    return {"input": [{"type": "additional_tools", "tools": offered}, "odd"]}


@pytest.mark.parametrize(
    ("tool", "call"),
    [
        (
            _function("shell", "command", "with_escalated_permissions"),
            {
                "command": ["bash", "-lc", "ls -l"],
                "workdir": "/w",
                "timeout_ms": 5000,
                "with_escalated_permissions": True,
                "justification": "It is needed.",
            },
        ),
        (
            _function("shell_command", "command", "timeout_ms", "sandbox_permissions"),
            {
                "command": "ls -l",
                "workdir": "/w",
                "timeout_ms": 5000,
                "sandbox_permissions": "require_escalated",
                "justification": "It is needed.",
            },
        ),
        (
            _function("exec_command", "cmd", "yield_time_ms"),
            {"cmd": "ls -l", "workdir": "/w", "yield_time_ms": 5000},
        ),
    ],
)
def test_a_command_takes_the_tool_that_is_offered(tool: dict[str, Any], call: Any) -> None:
    assert _arguments(ResponsesTools({"tools": [tool]}).item(_RUN)) == (tool["name"], call)


def test_a_command_can_be_a_local_shell_call() -> None:
    item = ResponsesTools({"tools": [{"type": "local_shell"}]}).item(Run("ls", workdir="/w"))

    assert item == {
        "type": "local_shell_call",
        "status": "completed",
        "action": {
            "type": "exec",
            "command": ["bash", "-lc", "ls"],
            "env": {},
            "working_directory": "/w",
        },
    }


def test_a_patch_is_a_tool_or_a_command() -> None:
    patch = Patch("*** Begin Patch\n*** End Patch\n")
    whole = "*** Begin Patch\n*** End Patch"

    custom = ResponsesTools({"tools": [{"type": "custom", "name": "apply_patch"}]}).item(patch)
    assert custom is not None
    assert (custom["type"], custom["input"]) == ("custom_tool_call", whole)

    function = ResponsesTools({"tools": [_function("apply_patch")]}).item(patch)
    assert _arguments(function) == ("apply_patch", {"input": whole})

    name, arguments = _arguments(
        ResponsesTools({"tools": [_function("shell_command")]}).item(patch)
    )
    assert name == "shell_command"
    assert arguments["command"] == f"apply_patch <<'EOF'\n{whole}\nEOF"


def test_a_plan_is_left_out_where_there_is_no_tool_for_it() -> None:
    plan = Plan((PlanStep("Look", "completed"),), "Because.")

    assert ResponsesTools({}).item(plan) is None
    assert _arguments(ResponsesTools({"tools": [_function("update_plan")]}).item(plan)) == (
        "update_plan",
        {"plan": [{"step": "Look", "status": "completed"}], "explanation": "Because."},
    )


@pytest.mark.parametrize(
    ("tool", "name", "namespace"),
    [
        (_function("mcp__my_server__add"), "mcp__my_server__add", None),
        (_function("my_server__add"), "my_server__add", None),
        (
            {"type": "namespace", "name": "mcp__my_server__", "tools": [_function("add")]},
            "add",
            "mcp__my_server__",
        ),
        (_function("other"), "mcp__my_server__add", None),
    ],
)
def test_an_mcp_tool_is_found_under_any_of_its_names(
    tool: dict[str, Any], name: str, namespace: str | None
) -> None:
    item = ResponsesTools({"tools": [tool]}).item(Mcp("my-server", "add", {"a": 1}))

    assert _arguments(item) == (name, {"a": 1})
    assert item is not None
    assert item.get("namespace") == namespace


@pytest.mark.parametrize("call", [Mcp("tiny", "add"), Tool("add", namespace="tiny")])
def test_a_tool_that_is_kept_back_is_searched_for_once(call: Call) -> None:
    body = {"tools": [{"type": "tool_search"}]}

    item = ResponsesTools(body).item(call)
    assert item is not None
    assert (item["type"], item["arguments"]["query"]) == ("tool_search_call", "tiny add")

    after = ResponsesTools(body, searched=True).item(call)
    assert after is not None
    assert after["type"] == "function_call"


def test_a_tool_found_by_a_search_is_called() -> None:
    found = {"type": "namespace", "name": "tickets", "tools": [_function("close")]}
    body = {"input": [{"type": "tool_search_output", "tools": [found]}]}

    item = ResponsesTools(body).item(Tool("close", {"id": 1}))

    assert item is not None
    assert item["namespace"] == "tickets"


def test_a_custom_tool_takes_text() -> None:
    tools = ResponsesTools({"tools": [{"type": "custom", "name": "draw"}]})

    item = tools.item(Tool("draw", "a line"))

    assert item == {
        "type": "custom_tool_call",
        "name": "draw",
        "input": "a line",
        "status": "completed",
    }


def test_with_code_mode_everything_is_javascript() -> None:
    def code(call: Call, *names: str) -> str:
        item = ResponsesTools(_code_mode(*names)).item(call)
        assert item is not None
        assert (item["type"], item["name"]) == ("custom_tool_call", "exec")
        return item["input"]

    assert code(_RUN, "exec_command") == (
        'text(await tools.exec_command({"cmd": "ls -l", "workdir": "/w", "yield_time_ms": 5000, '
        '"sandbox_permissions": "require_escalated", "justification": "It is needed."}));'
    )
    assert code(Run("ls"), "shell_command").startswith("text(await tools.shell_command({")
    assert code(Patch("p"), "apply_patch") == 'text(await tools.apply_patch("p"));'
    assert code(Plan(()), "update_plan") == 'text(await tools.update_plan({"plan": []}));'
    assert code(Mcp("tiny", "add")) == "text(await tools.mcp__tiny__add({}));"
    assert code(Tool("close", namespace="tickets"), "tickets__close") == (
        "text(await tools.tickets__close({}));"
    )
    assert code(Tool("close")) == "text(await tools.close({}));"


def test_arguments_that_are_not_json_pass_as_they_are() -> None:
    item = ResponsesTools({"tools": [_function("exec_command")]}).item(
        Tool("exec_command", "{not json")
    )

    assert item is not None
    assert item["arguments"] == "{not json"


def test_odd_offers_are_passed_over() -> None:
    assert ResponsesTools({"tools": "none", "input": [{"type": "additional_tools"}]}).offered == []
    assert ResponsesTools({"tools": [3, {"type": "web_search"}]}).find("web_search") is not None
    assert ResponsesTools({}).item(Call()) is None
