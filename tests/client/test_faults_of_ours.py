"""Faults of ours: whatever ends us in the middle of a turn, nobody is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from support.agents import ours
from support.agents.onlookers import marked, wait_until
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]
_COMMANDS = {
    "in the agent's session": "sleep 1000",
    "in a session of its own": "setsid sleep 1000",
    "sent away": "(setsid sleep 1000 >/dev/null 2>&1 </dev/null &) ; sleep 1000",
}


def _run_ours(play: Stage, repo: Path, mode: str, mark: str) -> subprocess.Popen[bytes]:
    """Our program, in the middle of a turn in which a command runs."""
    env = {**os.environ, **play.env, "MARK": mark}
    program = [sys.executable, ours.__file__, mode, play.command, str(repo)]
    process = subprocess.Popen(
        program,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_heed_interrupts,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"running\n"
    # The command starts a moment after the agent says so.
    wait_until(lambda: any(_is_sleep(pid) for pid in marked(mark)), SECONDS)
    return process


def _heed_interrupts() -> None:
    # A suite that was started in the background ignores SIGINT, and so would its children.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _is_sleep(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep\x001000")
    except OSError:
        return False


@pytest.mark.parametrize(
    ("mode", "where"),
    [*(("app-server", where) for where in _COMMANDS), ("exec", "sent away")],
)
def test_when_we_are_killed_nobody_is_left_after_five_seconds(
    stage: MakeStage, repo: Path, mode: str, where: str
) -> None:
    mark = uuid.uuid4().hex
    play = stage(f"- run: {_COMMANDS[where]!r}\n- say: never")
    process = _run_ours(play, repo, mode, mark)
    assert len(marked(mark)) > 2

    process.kill()
    process.communicate(timeout=SECONDS)

    wait_until(lambda: not marked(mark))


@pytest.mark.parametrize(
    ("mode", "number"),
    [
        ("app-server", signal.SIGTERM),
        ("app-server", signal.SIGINT),
        ("exec", signal.SIGINT),
        ("sync", signal.SIGINT),
    ],
)
def test_when_we_are_told_to_end_nobody_is_left(
    stage: MakeStage, repo: Path, mode: str, number: signal.Signals
) -> None:
    mark = uuid.uuid4().hex
    play = stage("- run: sleep 1000\n- say: never")
    process = _run_ours(play, repo, mode, mark)

    process.send_signal(number)
    _, problem = process.communicate(timeout=SECONDS)

    wait_until(lambda: not marked(mark))
    if number == signal.SIGINT:
        assert problem.rstrip().endswith(b"KeyboardInterrupt")
        assert b"never retrieved" not in problem
        assert b"was destroyed" not in problem
