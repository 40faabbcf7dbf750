"""The terminal goes away, at every stage: nothing is allowed, the agent ends, and so do we."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.testing.plugin import StartRehearsal
from support.terminal.ptys import Program, all_gone, at_a_terminal

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs Linux")
DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
RECORDING = Path(__file__).parents[2] / "examples" / "recordings" / "fix-the-test.app-server.jsonl"
ASKS = """
- say: I will make a file.
- run: {{command: "touch {made}", escalate: "It is outside."}}
- say: Done.
"""
WORKS = """
- say: I will think about it.
- run: {{command: "sleep 300", wait: 200}}
"""

Stage = Callable[[Program], object]


def at_once(program: Program) -> None:
    """Before anything is written."""


def saying(*words: str) -> Stage:
    return lambda program: program.wait_for(*words)


def asking(program: Program) -> None:
    program.wait_for("Run this command?", "no, and stop")


def typing_a_reason(program: Program) -> None:
    asking(program)
    program.type_until("w", "What should the agent know")
    program.type("because it")


def typing(program: Program) -> None:
    program.wait_for("/help")
    program.type("a prompt that is never ent")
    program.wait_for("never ent")


RUN = {
    "at once": (ASKS, at_once),
    "the agent has started": (ASKS, saying("gpt")),
    "a turn": (WORKS, saying("think about it")),
    "a question": (ASKS, asking),
    "a reason": (ASKS, typing_a_reason),
}


@pytest.mark.parametrize(("script", "stage"), RUN.values(), ids=RUN)
@pytest.mark.parametrize("command", ["run", "chat", "chat without colours"])
def test_a_run_and_a_chat_end_with_their_terminal(
    command: str,
    script: str,
    stage: Stage,
    rehearsal: StartRehearsal,
    codex_program: str,
    tmp_path: Path,
) -> None:
    made = tmp_path / "made"
    home = rehearsal(script.format(made=made), home=tmp_path / "home").codex_home
    env = {"NO_COLOR": "1"} if command.endswith("colours") else {}
    words = [DRAGOMAN, command.split()[0], "make it", "--command", codex_program]

    with at_a_terminal(words, env=env, cwd=tmp_path) as program:
        stage(program)
        program.hang_up()
        code = program.ended()

    assert code != 0
    assert all_gone(Path(home))
    assert not made.exists()


def test_a_chat_that_waits_for_a_prompt_ends(
    rehearsal: StartRehearsal, codex_program: str, tmp_path: Path
) -> None:
    home = rehearsal("- say: Hello.", home=tmp_path / "home").codex_home
    with at_a_terminal([DRAGOMAN, "chat", "--command", codex_program], cwd=tmp_path) as program:
        typing(program)
        program.hang_up()
        program.ended()

    assert all_gone(Path(home))


@pytest.mark.parametrize(
    "stage", [at_once, saying("Running"), saying("Make these changes?", "denied in")],
    ids=["at once", "a turn", "the question"],
)  # fmt: skip
def test_the_demo_ends_with_its_terminal(stage: Stage, codex_program: str, tmp_path: Path) -> None:
    words = [DRAGOMAN, "demo", "--quick", "--command", codex_program]
    with at_a_terminal(words, env={"TMPDIR": str(tmp_path)}) as program:
        stage(program)
        program.hang_up()
        program.ended()

    for folder in tmp_path.glob("dragoman-demo-*"):
        assert all_gone(folder / "home")
        assert 'return "Hello " + name' in (folder / "greeter" / "greet.py").read_text("utf-8")


@pytest.mark.parametrize("pauses", [False, True], ids=["playing", "paused"])
def test_a_replay_ends_with_its_terminal(pauses: bool) -> None:
    words = [DRAGOMAN, "replay", str(RECORDING), "--speed", "0.125", "--max-pause", "600"]
    with at_a_terminal(words) as program:
        program.wait_for("●")
        if pauses:
            program.type(" ")
            program.wait_for("paused")
        program.hang_up()
        program.ended()


def test_a_replay_that_has_shown_nothing_yet_ends_with_its_terminal() -> None:
    with at_a_terminal([DRAGOMAN, "replay", str(RECORDING)]) as program:
        program.hang_up()
        program.ended()
