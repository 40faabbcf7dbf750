from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.live.live import LiveView, view_for
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Delta,
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
    TurnError,
    TurnStarted,
    UsageReport,
    decode,
)
from dragoman.model.usage import Usage

RECORDING = Path(__file__).parents[3] / "examples" / "recordings" / "fix-the-test.app-server.jsonl"


class Stage:
    """A view on a terminal that a test can look at."""

    def __init__(self, terminal: Any, *, colour: bool = False, height: int = 40) -> None:
        self.terminal = terminal
        self.view = LiveView(
            terminal, colour=colour, width=terminal.width, height=height, animate=True
        )

    def show(self, *messages: Message) -> str:
        for message in messages:
            self.view.show(message)
        return self.screen

    @property
    def screen(self) -> str:
        return str(self.terminal.screen)

    def end(self) -> str:
        self.view.close()
        return self.screen


@pytest.fixture
def stage(terminal: Callable[..., Any]) -> Stage:
    return Stage(terminal(60))


def bash(command: str, call_id: str = "c1") -> ToolCall:
    return ToolCall(call_id=call_id, tool="Bash", native_tool="shell", input={"command": command})


def edit(*changes: dict[str, str], call_id: str = "e1") -> ToolCall:
    return ToolCall(
        call_id=call_id, tool="Edit", native_tool="patch", input={"changes": list(changes)}
    )


def test_a_text_grows_in_place_and_is_said_once(stage: Stage) -> None:
    stage.show(TurnStarted(), Delta(of="text", message_id="m", text="Hello, "))
    assert stage.show(Delta(of="text", message_id="m", text="Ada")) == (
        "\nHello, Ada\n\n⠋ Writing · 0 s"
    )

    stage.show(Delta(of="text", message_id="m", text="!\nHow are"))
    stage.show(Text(message_id="m", text="Hello, Ada!\nHow are you?"))

    assert stage.end() == "Hello, Ada!\nHow are you?\n"


def test_a_long_line_is_broken_between_words_while_it_grows(terminal: Callable[..., Any]) -> None:
    stage = Stage(terminal(30))
    words = "one two three four five six seven eight nine ten"
    stage.show(TurnStarted())
    for word in words.split():
        stage.show(Delta(of="text", message_id="m", text=f"{word} "))
    stage.show(Text(message_id="m", text=f"{words} "))

    assert stage.end() == "one two three four five six\nseven eight nine ten\n"


def test_wide_characters_take_two_cells(terminal: Callable[..., Any]) -> None:
    stage = Stage(terminal(31))

    stage.show(Text(text="所有的测试现在都通过了因为问候语中有逗号"))

    assert stage.end() == "所有的测试现在都通过了因为问候\n语中有逗号\n"


def test_what_an_agent_says_moves_nothing_on_the_terminal(stage: Stage) -> None:
    evil = "\x1b[2J\x1b[31mred\x07\r\u202egnp.exe"

    stage.show(
        TurnStarted(),
        Text(text=evil),
        Thinking(text=evil),
        Prompt(text=evil),
        Notice(level="error", text=evil),
        bash(evil),
        Delta(of="output", message_id="c1", text=evil),
        ToolResult(call_id="c1", output=evil),
        edit({"path": evil, "kind": evil, "diff": f"@@ -1 +1 @@\n-{evil}\n+{evil}"}),
        Plan(steps=[PlanStep(evil, "in_progress")], explanation=evil),
        ToolCall(call_id="x", tool=evil, native_tool=evil, input={evil: evil}),
        ApprovalRequested(approval_id="a", kind="command", summary=evil, detail={"reason": evil}),
        ApprovalSettled(approval_id="a", decision=evil),
        SessionStarted(harness=evil, version=evil, model=evil, cwd=evil),
        TurnEnded(outcome="failed", error=TurnError(evil, evil, False)),
    )

    assert "␛[2J" in stage.end()  # Terminal itself refuses everything that is not visible


def test_a_command_shows_the_end_of_its_output_while_it_runs(stage: Stage) -> None:
    stage.show(TurnStarted(), bash("make"))
    stage.show(*(Delta(of="output", message_id="c1", text=f"step {n}\n") for n in range(9)))
    stage.view.tick(3.25)

    assert stage.screen == (
        "\n$ make\n  │ step 3\n  │ step 4\n  │ step 5\n  │ step 6\n  │ step 7\n  │ step 8\n"
        "  └ 3.2 s\n\n⠹ Running make · 3 s"
    )


def test_a_command_is_kept_with_head_tail_code_and_time(stage: Stage) -> None:
    output = "".join(f"\x1b[32mline {n}\x1b[0m\n" for n in range(20))
    stage.show(TurnStarted(), bash("make"))
    stage.show(ToolResult(call_id="c1", output=output, is_error=True, exit_code=2, duration_ms=400))

    lines = stage.end().split("\n")
    assert lines[:6] == [
        "$ make",
        *(f"  │ line {n}" for n in range(4)),
        "  │ … 9 more lines",
    ]
    assert lines[6:] == [*(f"  │ line {n}" for n in range(13, 20)), "  └ ✗ exit 2 · 0.4 s", ""]


def test_a_progress_bar_is_shown_as_it_last_was(stage: Stage) -> None:
    stage.show(bash("fetch"), ToolResult(call_id="c1", output="10%\r50%\r100%\r\ndone\r\n"))

    assert "  │ 100%\n  │ done\n" in stage.end()


def test_an_edit_is_a_numbered_diff(stage: Stage) -> None:
    diff = "@@ -7,2 +7,2 @@\n def greet(name):\n-    return 1\n+    return 2\n"
    stage.show(
        SessionStarted(harness="x", cwd="/w"),
        edit({"path": "/w/greet.py", "kind": "update", "diff": diff}),
        ToolResult(call_id="e1"),
    )

    assert stage.end() == (
        "● x · /w\n\n± greet.py +1 -1\n"
        "  │ 7   def greet(name):\n  │ 8 -     return 1\n  │ 8 +     return 2\n"
    )


def test_added_lines_are_green_and_removed_ones_red(terminal: Callable[..., Any]) -> None:
    out = io.StringIO()
    view = LiveView(out, colour=True, width=60, animate=True)

    view.show(edit({"path": "a", "kind": "update", "diff": "@@ -1 +1 @@\n-x\n+y"}))
    view.show(ToolResult(call_id="e1"))

    assert "\x1b[31m- x\x1b[0m" in out.getvalue()
    assert "\x1b[32m+ y\x1b[0m" in out.getvalue()


def test_a_plan_is_ticked_off_in_place_and_written_down_once(stage: Stage) -> None:
    stage.show(
        TurnStarted(), Plan(steps=[PlanStep("look", "in_progress"), PlanStep("fix", "pending")])
    )
    assert stage.screen == "\n◐ look\n☐ fix\n\n⠋ Thinking · 0 s"

    stage.show(Plan(steps=[PlanStep("look", "completed"), PlanStep("fix", "in_progress")]))
    assert stage.screen == "\n☑ look\n◐ fix\n\n⠋ Thinking · 0 s"

    stage.view.tick(2)
    assert stage.show(TurnEnded(outcome="completed")) == ("☑ look\n◐ fix\n\n✓ completed in 2.0 s\n")


def test_the_last_line_tells_tokens_context_and_time(stage: Stage) -> None:
    used = Usage(9000, 8000, 0, 1000)
    stage.show(TurnStarted(), UsageReport(total=used, last=used, context_window=100_000))
    stage.view.tick(75)
    stage.show(TurnEnded(outcome="completed", usage=used))

    [first, _] = stage.end().split("\n")
    assert first.startswith("✓ completed in 1 min 15 s · 9,000 in (8,000 cached)")


def test_a_failure_says_why(stage: Stage) -> None:
    error = TurnError("server_overloaded", "the server is busy", True)
    stage.show(TurnStarted(), TurnEnded(outcome="failed", error=error))

    assert stage.end() == "✗ failed in 0.0 s\n  the server is busy\n"


def test_an_approved_change_is_shown_once(stage: Stage) -> None:
    change = {"path": "a.txt", "kind": "add", "diff": "hi\n"}
    stage.show(
        TurnStarted(),
        edit(change),
        ApprovalRequested(
            approval_id="e1", kind="edit", summary="add a.txt", detail={"changes": [change]}
        ),
    )
    assert "⠋ Waiting for you" in stage.screen
    stage.show(ApprovalSettled(approval_id="e1", decision="allow"), ToolResult(call_id="e1"))

    assert stage.end() == (
        "? Make these changes?\n  ± a.txt +1 new file\n  │ 1 + hi\n  → allowed\n\n"
        "± a.txt +1 new file\n"
    )


def test_the_spinner_turns_with_the_time_it_is_told(stage: Stage) -> None:
    stage.view.hint("Ctrl-C interrupts")
    stage.show(TurnStarted())
    stage.view.tick(0.1)
    assert stage.screen == "\n⠙ Thinking · 0 s · Ctrl-C interrupts"

    stage.view.tick(61.0)
    assert "Thinking · 1 min 01 s" in stage.screen


def test_the_cursor_is_back_when_the_view_is_closed(stage: Stage) -> None:
    stage.show(TurnStarted())
    assert not stage.terminal.cursor_is_shown

    stage.end()

    assert stage.terminal.cursor_is_shown
    assert stage.screen == ""


def test_what_moves_never_takes_more_than_the_screen(terminal: Callable[..., Any]) -> None:
    stage = Stage(terminal(60), height=6)
    steps = [PlanStep(f"step {n}", "pending") for n in range(30)]

    stage.show(TurnStarted(), Plan(steps=steps))

    assert len(stage.screen.split("\n")) == 5
    assert stage.screen.endswith("⠋ Thinking · 0 s")


def test_rows_that_a_narrower_terminal_broke_are_taken_away(terminal: Callable[..., Any]) -> None:
    stage = Stage(terminal(60))
    stage.show(TurnStarted(), Delta(of="text", text="x" * 50))
    # The terminal breaks the one long row into two, and the cursor is one row further down.
    stage.terminal.rows[1:2] = ["x" * 30, "x" * 20]
    stage.terminal.row += 1
    stage.terminal.width = 30

    stage.view.resize(30, 40)

    assert stage.screen == f"\n{'x' * 29}\n{'x' * 21}\n\n⠋ Writing · 0 s"


def test_a_sub_agent_stands_behind_a_margin(stage: Stage) -> None:
    stage.show(
        SessionStarted(session_id="a", harness="x"),
        SessionStarted(session_id="b", harness="y", parent_session_id="a"),
        Text(session_id="b", text="looking"),
        Text(session_id="a", text="thanks"),
    )

    assert stage.end() == "● x\n\n│ ● y\n│\n│ looking\n\nthanks\n"


def test_no_recording_breaks_the_view(terminal: Callable[..., Any], data: Path) -> None:
    shown = 0
    for path in sorted(data.rglob("messages.jsonl"))[:60]:
        stage = Stage(terminal(50), height=12)
        for number, line in enumerate(path.read_bytes().split(b"\n")):
            if line:
                stage.view.tick(number / 10)
                stage.show(decode(line))
        shown += len(stage.end())
    assert shown > 1000


# Where nothing can move.


def test_without_a_terminal_there_are_plain_lines_as_they_become_whole() -> None:
    out = io.StringIO()
    view = view_for(out, {})
    view.show(Delta(of="text", message_id="m", text="one\ntw"))
    assert out.getvalue() == "one\n"

    view.tick(1)
    view.footer(["never"])
    view.show(Text(message_id="m", text="one\ntwo"))
    view.write_rows(["a word from us"])
    view.close()

    assert out.getvalue() == "one\ntwo\n\na word from us\n"


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_it_plain_gets_no_control_character(
    env: dict[str, str], terminal: Callable[..., Any]
) -> None:
    view = view_for(terminal(), env)

    assert not view.animate
    assert not view.colour


def test_a_stream_that_cannot_say_everything_says_it_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("w", encoding="ascii") as out:
        for animate in (True, False):
            view = LiveView(out, colour=False, width=60, animate=animate)
            view.show(Text(text="naïve \ud800"))
            view.close()

    assert path.read_bytes().count(b"na\\xefve \\ud800") == 2
