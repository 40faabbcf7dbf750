from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.tools.calls import (
    CODE_MODE,
    NativeCall,
    custom_call,
    function_call,
    plain_script,
    plan_steps,
    shell_call,
    web_call,
)
from dragoman.model.messages import PlanStep

CWD = "/workspace"
PATCH = "*** Begin Patch\n*** Add File: added.txt\n+hello\n*** End Patch"
WRITTEN: dict[str, Any] = {
    "changes": [{"path": "/workspace/added.txt", "kind": "add", "diff": "hello\n"}],
    "file_path": "/workspace/added.txt",
    "content": "hello\n",
}
COLOR = {
    "id": "color",
    "header": "Color",
    "question": "Which color?",
    "options": [{"label": "Red"}],
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text() | st.sampled_from(["cmd", "command", "plan", "path", "ids", "input"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


def written(given: Any) -> str:
    return msgspec.json.encode(given).decode()


# Every native tool: Claude's name and an input a person can read.


@pytest.mark.parametrize(
    ("name", "namespace", "arguments", "tool", "call"),
    [
        ("shell", None, {"command": ["bash", "-lc", "ls"]}, "Bash", {"command": "ls"}),
        ("shell", None, {"command": ["ls", "-la"]}, "Bash", {"command": "ls -la"}),
        ("container.exec", None, {"command": ["sh", "-c", "ls"]}, "Bash", {"command": "ls"}),
        ("local_shell", None, {"command": ["zsh", "-lc", "ls"]}, "Bash", {"command": "ls"}),
        ("shell_command", None, {"command": "echo hi"}, "Bash", {"command": "echo hi"}),
        ("exec_command", None, {"cmd": "echo hi", "yield_time_ms": 9}, "Bash", {"command": "echo hi"}),
        ("exec_command", None, {"cmd": "bash -lc 'x'"}, "Bash", {"command": "bash -lc 'x'"}),
        (
            "write_stdin",
            None,
            {"session_id": 96209, "chars": "abc\n", "yield_time_ms": 400},
            "BashOutput",
            {"session_id": "96209", "chars": "abc\n"},
        ),
        ("write_stdin", None, {"session_id": 7}, "BashOutput", {"session_id": "7", "chars": ""}),
        (
            "update_plan",
            None,
            {"explanation": "starting", "plan": [{"step": "look", "status": "in_progress"}]},
            "TodoWrite",
            {
                "todos": [{"content": "look", "status": "in_progress"}],
                "explanation": "starting",
            },
        ),
        ("view_image", None, {"path": "pic.png"}, "Read", {"file_path": "/workspace/pic.png"}),
        ("read_file", None, {"file_path": "/etc/hosts"}, "Read", {"file_path": "/etc/hosts"}),
        ("list_dir", None, {"dir_path": "/workspace"}, "LS", {"path": "/workspace"}),
        (
            "grep_files",
            None,
            {"pattern": "TODO", "path": "src", "include": None, "limit": 5},
            "Grep",
            {"pattern": "TODO", "path": "src"},
        ),
        ("apply_patch", None, {"input": PATCH}, "Write", WRITTEN),
        ("apply_patch", None, {"patch": PATCH}, "Write", WRITTEN),
        ("shell", None, {"command": ["apply_patch", PATCH]}, "Write", WRITTEN),
        (
            "shell",
            None,
            {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]},
            "Write",
            WRITTEN,
        ),
        ("exec_command", None, {"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}, "Write", WRITTEN),
        ("shell_command", None, {"command": f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"}, "Write", WRITTEN),
        ("spawn_agent", None, {"message": "go"}, "Task", {"prompt": "go"}),
        ("spawn_agent", "multi_agent_v1", {"message": "go"}, "Task", {"prompt": "go"}),
        (
            "spawn_agent",
            "collaboration",
            {"task_name": "adder", "message": "go"},
            "Task",
            {"prompt": "go", "description": "adder"},
        ),
        ("wait_agent", "multi_agent_v1", {"targets": ["a"]}, "TaskOutput", {"agent_ids": ["a"]}),
        ("wait", None, {"ids": ["a"]}, "TaskOutput", {"agent_ids": ["a"]}),
        ("close_agent", "multi_agent_v1", {"target": "a"}, "TaskStop", {"agent_ids": ["a"]}),
        (
            "send_message",
            "collaboration",
            {"target": "a", "message": "hi"},
            "SendMessage",
            {"agent_ids": ["a"], "message": "hi"},
        ),
        ("request_user_input", None, {"questions": [COLOR]}, "AskUserQuestion", {"questions": [COLOR]}),
        (
            "request_user_input_async",
            "functions",
            {"questions": [COLOR]},
            "AskUserQuestion",
            {"questions": [COLOR]},
        ),
        ("sleep", "clock", {"duration_ms": 400}, "clock.sleep", {"duration_ms": 400}),
        ("sleep", None, {"duration_ms": 400}, "clock.sleep", {"duration_ms": 400}),
        ("curr_time", "clock", {}, "clock.curr_time", {}),
        ("list_mcp_resources", None, {"server": "tiny"}, "ListMcpResourcesTool", {"server": "tiny"}),
        ("read_mcp_resource", None, {"uri": "x://y"}, "ReadMcpResourceTool", {"uri": "x://y"}),
    ],
)  # fmt: skip
def test_a_tool_of_codex_has_the_name_the_field_knows(
    name: str,
    namespace: str | None,
    arguments: dict[str, Any],
    tool: str,
    call: dict[str, Any],
) -> None:
    native = f"{namespace}.{name}" if namespace else name

    read = function_call(name, namespace, written(arguments), CWD)

    assert read == NativeCall(tool, native, call)
    assert function_call(name, namespace, arguments, CWD) == read


@pytest.mark.parametrize(
    ("name", "namespace", "tool", "native"),
    [
        ("tiny__add", None, "mcp__tiny__add", "tiny__add"),
        ("mcp__tiny__add", None, "mcp__tiny__add", "mcp__tiny__add"),
        ("add", "mcp__tiny", "mcp__tiny__add", "mcp__tiny.add"),
        ("add", "mcp__tiny__", "mcp__tiny__add", "mcp__tiny__.add"),
        ("shell", "mcp__tiny", "mcp__tiny__shell", "mcp__tiny.shell"),
        ("lookup_ticket", None, "lookup_ticket", "lookup_ticket"),
        ("lookup_ticket", "tickets", "tickets.lookup_ticket", "tickets.lookup_ticket"),
        ("update_plan", "tickets", "tickets.update_plan", "tickets.update_plan"),
        ("shell", "tickets", "tickets.shell", "tickets.shell"),
        ("create_goal", None, "create_goal", "create_goal"),
        ("request_permissions", None, "request_permissions", "request_permissions"),
        ("list_agents", "collaboration", "collaboration.list_agents", "collaboration.list_agents"),
        ("wait", None, "wait", "wait"),
        ("wait", "functions", "functions.wait", "functions.wait"),
    ],
)
def test_any_other_tool_keeps_its_name_and_what_it_was_given(
    name: str, namespace: str | None, tool: str, native: str
) -> None:
    """Its output may be anything, so that it must not be unwrapped as one of Codex's own."""
    assert function_call(name, namespace, '{"a":2}', CWD) == NativeCall(
        tool, native, {"a": 2}, free_form=True
    )


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("", {}),
        ("{}", {}),
        ("{not json", {"raw": "{not json"}),
        ("[1]", {"value": [1]}),
        ("[" * 20_000, {"raw": "[" * 20_000}),
        (None, {"value": None}),
        (5, {"value": 5}),
    ],
    ids=["empty", "none", "broken", "a list", "deep", "nothing", "a number"],
)
def test_arguments_that_are_no_object_are_kept(arguments: Any, given: dict[str, Any]) -> None:
    assert function_call("lookup_ticket", None, arguments, CWD).input == given


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("{not json", {"raw": "{not json"}),
        ("[]", {"raw": "[]"}),
        ("[" * 200_000, {"raw": "[" * 200_000}),
        ("{}", {"command": ""}),
        ('{"cmd":null,"command":"ls"}', {"command": "ls"}),
    ],
    ids=["broken", "a list", "deep", "no command", "the other key"],
)
def test_a_command_that_cannot_be_read_is_still_a_command(
    arguments: str, given: dict[str, Any]
) -> None:
    assert function_call("exec_command", None, arguments, CWD) == NativeCall(
        "Bash", "exec_command", given
    )


@given(
    json_values,
    st.sampled_from(["shell", "exec_command", "update_plan", "apply_patch", "wait", "x__y", "x"]),
    st.sampled_from([None, "functions", "clock", "mcp__tiny", "tickets"]),
)
def test_no_arguments_raise(arguments: Any, name: str, namespace: str | None) -> None:
    read = function_call(name, namespace, arguments, CWD)

    assert function_call(name, namespace, written(arguments), CWD).tool == read.tool
    assert all(isinstance(key, str) for key in read.input)


# Tools that take plain text.


def test_the_patch_tool_takes_a_patch() -> None:
    assert custom_call("apply_patch", PATCH, CWD) == NativeCall("Write", "apply_patch", WRITTEN)


def test_code_mode_takes_a_script() -> None:
    script = 'const r = await tools.exec_command({"cmd": "ls"}); text(r);'

    assert custom_call("exec", script, CWD) == NativeCall("exec", "exec", {"script": script})
    assert {"exec", "wait", "functions.wait"} <= CODE_MODE


def test_another_tool_takes_any_text() -> None:
    assert custom_call("sql", "select 1", CWD) == NativeCall("sql", "sql", {"input": "select 1"})


# Commands as items and events carry them.


@pytest.mark.parametrize(
    "command",
    [["bash", "-lc", "cat README.md"], "/bin/bash -lc 'cat README.md'", "cat README.md"],
    ids=str,
)
def test_a_command_is_the_same_call_in_every_form(command: Any) -> None:
    assert shell_call("command_execution", command, CWD) == NativeCall(
        "Bash", "command_execution", {"command": "cat README.md"}
    )


def test_a_patch_that_updates_is_an_edit() -> None:
    script = (
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: README.md\n@@\n-old line\n"
        "+new line\n*** Delete File: gone.txt\n*** End Patch\nEOF"
    )

    assert shell_call("shell", ["bash", "-lc", script], CWD) == NativeCall(
        "Edit",
        "shell",
        {
            "changes": [
                {
                    "path": "/workspace/README.md",
                    "kind": "update",
                    "diff": "@@\n-old line\n+new line\n",
                },
                {"path": "/workspace/gone.txt", "kind": "delete"},
            ]
        },
    )


@pytest.mark.parametrize(
    ("arguments", "script"),
    [
        ('{"cmd":"echo $((3+4))","yield_time_ms":9}', "echo $((3+4))"),
        ('{"cmd":["ls"]}', None),
        ('{"command":"ls"}', None),
        (f'{{"cmd":"apply_patch <<EOF\\n{"*** Begin Patch"}"}}', None),
        ("{not json", None),
        ("[" * 200_000, None),
        (None, None),
        ({"cmd": "ls"}, None),
    ],
    ids=["script", "words", "other key", "patch", "broken", "deep", "nothing", "an object"],
)
def test_the_short_way_is_for_scripts_and_nothing_else(arguments: Any, script: str | None) -> None:
    assert plain_script(arguments) == script


@given(st.text())
def test_the_short_way_ends_where_the_long_one_does(script: str) -> None:
    arguments = written({"cmd": script})

    assert function_call("exec_command", None, arguments, CWD) == NativeCall(
        "Bash", "exec_command", {"command": plain_script(arguments)}
    )


# The web.


@pytest.mark.parametrize(
    ("query", "action", "tool", "call"),
    [
        pytest.param(
            "weather in Oslo",
            {"type": "search", "query": "weather in Oslo", "queries": ["weather in Oslo"]},
            "WebSearch",
            {"query": "weather in Oslo"},
            id="search",
        ),
        pytest.param(
            "weather in Oslo", None, "WebSearch", {"query": "weather in Oslo"}, id="old search"
        ),
        pytest.param(
            None,
            {"type": "search", "query": "weather in Oslo"},
            "WebSearch",
            {"query": "weather in Oslo"},
            id="only the action",
        ),
        pytest.param(
            None,
            {"type": "search", "queries": ["a", "b"]},
            "WebSearch",
            {"query": "a; b"},
            id="many",
        ),
        pytest.param(
            None,
            {"type": "open_page", "url": "https://example.com/a"},
            "WebFetch",
            {"url": "https://example.com/a"},
            id="open a page",
        ),
        pytest.param(
            "https://example.com/a",
            None,
            "WebFetch",
            {"url": "https://example.com/a"},
            id="open a page, in words",
        ),
        pytest.param(
            None,
            {"type": "find_in_page", "url": "https://example.com/a", "pattern": "rain"},
            "WebFetch",
            {"url": "https://example.com/a", "pattern": "rain"},
            id="find in a page",
        ),
        pytest.param(
            "'rain' in https://example.com/a",
            None,
            "WebFetch",
            {"url": "https://example.com/a", "pattern": "rain"},
            id="find in a page, in words",
        ),
        pytest.param(
            "what is https://example.com/a about",
            None,
            "WebSearch",
            {"query": "what is https://example.com/a about"},
            id="a search that names a page",
        ),
        pytest.param("", {"type": "other"}, "WebSearch", {"query": ""}, id="not known yet"),
        pytest.param(None, None, "WebSearch", {"query": ""}, id="nothing"),
    ],
)
def test_the_web_is_searched_or_a_page_is_read(
    query: str | None, action: Any, tool: str, call: dict[str, Any]
) -> None:
    assert web_call(query, action) == (tool, call)


# Plans.


@pytest.mark.parametrize(
    ("given", "steps", "explanation"),
    [
        pytest.param(
            {
                "explanation": None,
                "plan": [
                    {"step": "look", "status": "completed"},
                    {"step": "fix", "status": "in_progress"},
                    {"step": "test", "status": "pending"},
                ],
            },
            [PlanStep("look", "completed"), PlanStep("fix", "in_progress"), PlanStep("test")],
            None,
            id="rollouts and events",
        ),
        pytest.param(
            {"explanation": "on", "plan": [{"step": "fix", "status": "inProgress"}]},
            [PlanStep("fix", "in_progress")],
            "on",
            id="app-server",
        ),
        pytest.param(
            {"plan": [{"text": "look", "completed": True}, {"text": "fix", "completed": False}]},
            [PlanStep("look", "completed"), PlanStep("fix")],
            None,
            id="exec",
        ),
        pytest.param(
            {"steps": [{"text": "look", "status": "completed"}]},
            [PlanStep("look", "completed")],
            None,
            id="steps",
        ),
        pytest.param(
            {"plan": [{"step": "look", "status": "paused"}, "odd", None]},
            [PlanStep("look"), PlanStep("odd"), PlanStep("")],
            None,
            id="odd ones",
        ),
        pytest.param({"plan": "words"}, [], None, id="no list"),
        pytest.param({}, [], None, id="nothing"),
    ],
)
def test_a_plan_is_the_same_in_every_spelling(
    given: dict[str, Any], steps: list[PlanStep], explanation: str | None
) -> None:
    assert plan_steps(given) == (steps, explanation)


def test_a_patch_is_applied_where_its_script_goes() -> None:
    script = f"cd sub && apply_patch <<'EOF'\n{PATCH}\nEOF"

    call = shell_call("shell", ["bash", "-lc", script], "/workspace")
    assert call.input["file_path"] == "/workspace/sub/added.txt"


@pytest.mark.parametrize("name", ["shell", "container.exec", "local_shell", "exec_command"])
@pytest.mark.parametrize("workdir", ["sub", "/workspace/sub", "./sub/"])
@pytest.mark.parametrize(
    "command",
    [
        ["apply_patch", PATCH],
        ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"],
        f"apply_patch <<'EOF'\n{PATCH}\nEOF",
    ],
    ids=["words", "shell", "script"],
)
def test_a_patch_is_applied_in_the_directory_of_its_call(
    name: str, workdir: str, command: Any
) -> None:
    arguments = written({"command": command, "workdir": workdir})

    call = function_call(name, None, arguments, "/workspace")
    assert call.input["file_path"] == "/workspace/sub/added.txt"


def test_a_directory_that_is_no_text_is_passed_over() -> None:
    arguments = written({"command": ["apply_patch", PATCH], "workdir": 7})

    call = function_call("shell", None, arguments, "/workspace")
    assert call.input["file_path"] == "/workspace/added.txt"
