from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.codex.versions import Version
from dragoman.harnesses.codex.writing.tools import WrittenCall, as_codex, patch_of
from dragoman.harnesses.writing.edits import FileEdit, Hunk
from support.handoff import use

_NEWEST = (0, 169, 0)


def _written(
    tool: str, given: dict[str, Any], release: Version = _NEWEST, **result: Any
) -> WrittenCall:
    written = as_codex(use(tool, given, **result), "c1", release)
    assert written is not None
    return written


@pytest.mark.parametrize(
    ("release", "name", "arguments", "output"),
    [
        (
            (0, 44, 0),
            "shell",
            {"command": ["bash", "-lc", "ls"]},
            '{"output":"a","metadata":{"exit_code":3,"duration_seconds":0.5}}',
        ),
        (
            (0, 66, 0),
            "shell_command",
            {"command": "ls"},
            "Exit code: 3\nWall time: 0.5 seconds\nOutput:\na",
        ),
        (
            _NEWEST,
            "exec_command",
            {"cmd": "ls"},
            "Wall time: 0.5000 seconds\nProcess exited with code 3\nOutput:\na",
        ),
    ],
)
def test_a_command_is_written_for_the_release(
    release: Version, name: str, arguments: dict[str, Any], output: str
) -> None:
    call, result = _written(
        "Bash", {"command": "ls"}, release, output="a", exit_code=3, duration_ms=500, is_error=True
    ).items

    assert (call["name"], json.loads(call["arguments"])) == (name, arguments)
    assert result == {"type": "function_call_output", "call_id": "c1", "output": output}


def test_a_command_that_was_not_run_says_so() -> None:
    declined = _written("Bash", {"command": "ls"}, output="no", status="declined", is_error=True)
    cut_short = _written("Bash", {"command": "ls"}, status="abandoned")
    failed = _written("Bash", {"command": "ls"}, output="no shell", status="failed", is_error=True)

    assert declined.items[1]["output"] == "exec command rejected by user: no"
    assert cut_short.items[1]["output"] == "aborted"
    assert failed.items[1]["output"] == "error: no shell"


@pytest.mark.parametrize(
    ("release", "name", "namespace"),
    [
        ((0, 44, 0), "lab__echo__it", None),
        ((0, 77, 0), "mcp__lab__echo__it", None),
        (_NEWEST, "echo__it", "mcp__lab"),
    ],
)
def test_a_tool_of_an_mcp_server_is_named_as_the_release_names_it(
    release: Version, name: str, namespace: str | None
) -> None:
    call, _ = _written("mcp__lab__echo__it", {"text": "hi"}, release, output="hi").items

    assert (call["name"], call.get("namespace")) == (name, namespace)
    assert json.loads(call["arguments"]) == {"text": "hi"}


def test_a_patch_is_a_tool_of_its_own_since_0_53() -> None:
    given = {"file_path": "/a", "old_string": "x", "new_string": "y"}
    old, old_output = _written("Edit", given, (0, 44, 0), output="ok").items
    call, output = _written("Edit", given, output="ok").items

    assert json.loads(old["arguments"])["command"] == ["apply_patch", call["input"]]
    assert json.loads(old_output["output"])["output"] == "ok"
    assert (call["type"], call["name"]) == ("custom_tool_call", "apply_patch")
    assert output["output"] == "Exit code: 0\nWall time: 0 seconds\nOutput:\nok"


def test_a_patch_has_what_stays_as_context() -> None:
    changes = [
        FileEdit(path="/new", kind="add", content="one\n\ntwo\n"),
        FileEdit(path="/gone", kind="delete", content="x"),
        FileEdit(
            path="/a",
            kind="update",
            hunks=(Hunk("a\nb\nc", "a\nB\nB2\nc"), Hunk("", "new")),
            move_path="/b",
        ),
    ]

    assert patch_of(changes).split("\n") == [
        "*** Begin Patch",
        "*** Add File: /new", "+one", "+", "+two",
        "*** Delete File: /gone",
        "*** Update File: /a", "*** Move to: /b",
        "@@", " a", "-b", "+B", "+B2", " c",
        "@@", "+new",
        "*** End Patch",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "given", "command"),
    [
        ("Read", {"file_path": "/a b"}, "cat '/a b'"),
        ("Read", {"file_path": "/a", "offset": 3, "limit": 2}, "sed -n '3,4p' /a"),
        ("Read", {"file_path": "/a", "offset": 3}, "sed -n '3,$p' /a"),
        ("Glob", {"pattern": "*.py", "path": "/x"}, "rg --files -g '*.py' /x"),
        ("Grep", {"pattern": "a|b", "glob": "*.py"}, "rg -n -g '*.py' -e 'a|b'"),
        ("LS", {}, "ls"),
        ("LS", {"path": "/x"}, "ls /x"),
    ],
)
def test_files_are_read_with_the_shell(tool: str, given: dict[str, Any], command: str) -> None:
    written = _written(tool, given, output="x")

    assert written.is_translated
    assert json.loads(written.items[0]["arguments"]) == {"cmd": command}


def test_a_plan() -> None:
    given = {"todos": [{"content": "one", "status": "completed"}, {"content": "two"}]}
    call, output = _written("TodoWrite", given, output="").items

    assert call["name"] == "update_plan"
    assert json.loads(call["arguments"]) == {
        "plan": [{"step": "one", "status": "completed"}, {"step": "two", "status": "pending"}]
    }
    assert output["output"] == "Plan updated"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("WebSearch", {"query": "x"}),
        ("Bash", {}),
        ("Edit", {}),
        ("TodoWrite", {"todos": []}),
        ("Read", {}),
        ("Glob", {}),
        ("Grep", {}),
        ("mcp__odd", {}),
        ("", {}),
    ],
)
def test_other_calls_are_left_to_the_caller(tool: str, given: dict[str, Any]) -> None:
    assert as_codex(use(tool, given), "c1", _NEWEST) is None
