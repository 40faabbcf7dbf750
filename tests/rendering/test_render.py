from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dragoman.model.messages import PlanStep, ResultStatus, SessionStarted, ToolCall, ToolResult
from dragoman.model.usage import Usage
from dragoman.rendering import render
from dragoman.rendering.render import Change

AT = datetime(2026, 11, 15, 22, 26, 6, tzinfo=UTC)


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id="c1", tool=tool, native_tool=tool, input=arguments)


@pytest.mark.parametrize(
    ("text", "lines", "more"),
    [
        ("", [], 0),
        ("\n\n", [], 0),
        ("a\nb\n", ["a", "b"], 0),
        ("a\r\nb\r\nc\r\n", ["a", "b"], 1),
        ("a\n\n\x1bc\nd", ["a", ""], 2),
    ],
)
def test_the_head_of_a_text_says_how_much_is_left(text: str, lines: list[str], more: int) -> None:
    assert render.head(text, 2) == (lines, more)


def test_a_long_text_is_cut_to_one_line() -> None:
    assert render.one_line("one\n  two\x1b three", 100) == "one two␛ three"
    assert render.one_line("one two three", 8) == "one two…"


@pytest.mark.parametrize(
    ("edit", "changes"),
    [
        (
            call(
                "Edit", changes=[{"path": "a", "kind": "update", "diff": "@@ -1 +1 @@\n-x\n+y\n"}]
            ),
            [Change("a", "update", ["@@ -1 +1 @@", "-x", "+y"])],
        ),
        (
            call(
                "Write", changes=[{"path": "a", "kind": "add", "diff": "x\n\ny\n"}], file_path="a"
            ),
            [Change("a", "add", ["+x", "+", "+y"])],
        ),
        (
            call(
                "Edit",
                changes=[
                    {"path": "a", "kind": "delete", "diff": "x"},
                    {"path": "b", "kind": "update", "move_path": "c"},
                ],
            ),
            [Change("a", "delete", ["-x"]), Change("b → c", "update", [])],
        ),
        (
            call("Edit", file_path="a", old_string="x\n", new_string="y\nz\n"),
            [Change("a", "update", ["-x", "+y", "+z"])],
        ),
        (
            call("MultiEdit", file_path="a", edits=[{"old_string": "x", "new_string": ""}]),
            [Change("a", "update", ["-x"])],
        ),
        (call("Write", file_path="\x1b\na", content="x"), [Change("␛␊a", "write", ["+x"])]),
        (call("Edit", changes=[{"path": 7}]), []),
        (call("Edit", patch="*** Begin Patch"), []),
        (call("Read", file_path="a"), []),
    ],
)
def test_an_edit_is_a_change_to_each_file(edit: ToolCall, changes: list[Change]) -> None:
    assert render.changes(edit) == changes


@pytest.mark.parametrize(
    ("bash", "command"),
    [
        (call("Bash", command="ls -l"), "ls -l"),
        (call("Bash", command=["ls", "-l"]), "ls -l"),
        (call("Bash", session_id=3), None),
        (call("Read", command="ls"), None),
    ],
)
def test_a_command_is_what_bash_runs(bash: ToolCall, command: str | None) -> None:
    assert render.command(bash) == command


@pytest.mark.parametrize(
    ("todo", "steps"),
    [
        (
            call(
                "TodoWrite", todos=[{"content": "look", "status": "completed", "activeForm": "l"}]
            ),
            [PlanStep("look", "completed")],
        ),
        (
            call("TodoWrite", plan=[{"step": "leap", "status": "someday"}]),
            [PlanStep("leap", "pending")],
        ),
        (call("TodoWrite", todos="none"), []),
        (call("Bash", todos=[{"content": "look", "status": "completed"}]), []),
    ],
)
def test_steps_are_what_a_todo_call_writes(todo: ToolCall, steps: list[PlanStep]) -> None:
    assert render.steps(todo) == steps


@pytest.mark.parametrize(
    ("any_call", "line"),
    [
        (call("Bash", command="cd x\nls"), "$ cd x ls"),
        (call("Edit", changes=[{"path": "a"}, {"path": "b"}]), "± a, b"),
        (call("Read", file_path="a.py"), "Read(a.py)"),
        (call("Grep", pattern="x y", n=True), "Grep(pattern=x y, n=true)"),
        (call("mcp__db__list"), "mcp__db__list()"),
        (call("WebSearch", query="x" * 50), "WebSearch(" + "x" * 28 + "…)"),
    ],
)
def test_every_call_has_a_line(any_call: ToolCall, line: str) -> None:
    assert render.summary(any_call, 40) == line


@pytest.mark.parametrize(
    ("status", "is_error", "exit_code", "trouble"),
    [
        ("completed", False, 0, None),
        ("completed", True, 1, "exit 1"),
        ("failed", True, None, "failed"),
        ("declined", True, None, "declined"),
        ("abandoned", False, None, "abandoned"),
    ],
)
def test_trouble_is_told_in_a_word(
    status: ResultStatus, is_error: bool, exit_code: int | None, trouble: str | None
) -> None:
    result = ToolResult(call_id="c1", status=status, is_error=is_error, exit_code=exit_code)

    assert render.trouble(result) == trouble


def test_a_session_is_its_program_model_and_directory() -> None:
    full = SessionStarted(harness="codex", version="0.166.0", model="gpt-5.5", cwd="/w")

    assert render.session(full) == ["codex 0.166.0", "gpt-5.5", "/w"]
    assert render.session(SessionStarted(harness="codex")) == ["codex"]


def test_an_image_is_named_not_shown() -> None:
    assert render.image("/tmp/a.png") == "[image: /tmp/a.png]"
    assert render.image("data:image/png;base64,iVBO") == "[image: image/png, 4 characters]"


def test_tokens_are_told_the_way_people_read_them() -> None:
    assert render.spent(Usage(24763, 24448, 0, 122)) == "24,763 in (24,448 cached) · 122 out"
    assert render.spent(Usage(530, 0, 0, 60)) == "530 in · 60 out"


@pytest.mark.parametrize(
    ("until", "elapsed"),
    [
        (AT + timedelta(seconds=4.21), "4.2 s"),
        (AT + timedelta(seconds=185), "3 min 05 s"),
        (AT - timedelta(seconds=1), None),
        (None, None),
    ],
)
def test_time_is_told_when_it_is_known(until: datetime | None, elapsed: str | None) -> None:
    assert render.elapsed(AT, until) == elapsed
