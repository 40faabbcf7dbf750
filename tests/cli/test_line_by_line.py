"""A terminal without colours or without a cursor that can be moved: everything is asked there, too."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dragoman.testing.plugin import StartRehearsal
from support.terminal.ptys import at_a_terminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals")
DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
STAGE = [
    sys.executable,
    str(Path(__file__).parents[1] / "support" / "terminal" / "asking_stage.py"),
]
PLAIN = [{"NO_COLOR": "1"}, {"TERM": "dumb"}]
SCRIPT = """
- say: I will make a file.
- run: {{command: "touch {made}", escalate: "It is outside."}}
- say: Done.
"""


@pytest.mark.parametrize("env", PLAIN, ids=["no colour", "dumb"])
@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_command_is_asked_about_and_runs_when_allowed(
    command: str,
    env: dict[str, str],
    rehearsal: StartRehearsal,
    codex_program: str,
    tmp_path: Path,
) -> None:
    made = tmp_path / "made"
    rehearsal(SCRIPT.format(made=made))
    words = [DRAGOMAN, command, "make it", "--command", codex_program]
    # Commands run in a login shell; what its owner's profile does, and waits for, is not the matter here.
    env = {**env, "HOME": str(tmp_path)}
    with at_a_terminal(words, env=env, cwd=tmp_path, width=60) as program:
        asked = program.wait_for(
            "Run this command?", "No answer within 240 s counts as a denial.", "] "
        )
        assert "y yes   a yes, for this session" in asked
        assert "directory: . (the session's directory)" in asked
        assert not made.exists()
        program.type_until("y", "→ allowed")
        program.wait_for("Done.")
        if command == "chat":
            program.wait_for("completed", "\u203a ")
            program.type("\x04")
        assert program.ended() == 0
    assert made.exists()
    assert b"\x1b" not in program.raw


def test_a_chat_takes_its_prompts_line_by_line(
    rehearsal: StartRehearsal, codex_program: str, tmp_path: Path
) -> None:
    rehearsal("{turns: [[{say: First answer.}], [{say: Second answer.}]]}")
    words = [DRAGOMAN, "chat", "--command", codex_program]
    with at_a_terminal(words, env={"TERM": "dumb"}, cwd=tmp_path) as program:
        program.wait_for("\u203a ")
        program.type("helo\x7flo\r")
        program.wait_for("hel", "lo", "First answer.", "completed", "\u203a ")
        program.type("more\r")
        program.wait_for("Second answer.", "completed", "\u203a ")
        program.type("/quit\r")
        assert program.ended() == 0
    assert b"\x1b" not in program.raw


def test_every_step_of_a_form_is_printed_once() -> None:
    with at_a_terminal([*STAGE, "form"], env={"NO_COLOR": "1"}) as program:
        program.wait_for("Please tell me who you are.", "y fill in the form")
        program.type_until("y", "1 of 5: Full name (name)")
        program.type("A\r")
        program.wait_for("! name must have at least 2 characters")
        program.type("Ada\r")
        program.wait_for("2 of 5: age")
        program.type("36\r")
        program.wait_for("3 of 5: colour")
        program.type("\r")
        program.wait_for("4 of 5: news")
        program.type("yes\r")
        program.wait_for("5 of 5: mail")
        program.type("\r")
        program.wait_for("The following will be sent:", "colour: green", "[y/n/c]")
        program.type("y")
        program.wait_for('"content":{"name":"Ada","age":36,"colour":"green","news":true}')
        assert program.ended() == 0
    assert b"\x1b" not in program.raw


def test_a_reason_can_be_given() -> None:
    with at_a_terminal([*STAGE, "command"], env={"TERM": "dumb"}) as program:
        program.wait_for("Run this command?", "shell: /tmp/evil/bash -lc")
        program.type_until("w", "What should the agent know")
        program.type("move it away\r")
        program.wait_for('"word":"deny","message":"move it away"')
        assert program.ended() == 0
