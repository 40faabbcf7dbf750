"""A helper answers, can be ended, and is gone when we are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dragoman.drive.process.helper import Helper
from support.agents.orphans import is_gone_with, needs_linux

SECONDS = 60.0
ECHO = """
from dragoman.drive.process import helper
helper.answer(b"heard " + helper.begin().strip())
"""
WAITS = """
import ctypes, sys, time
from dragoman.drive.process import helper
helper.begin()
{before}
time.sleep(60)
"""
PARENT = """
import sys
from dragoman.drive.process.helper import Helper
print(Helper(sys.argv[1], b"wait").pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "help_echo.py").write_text(ECHO)
    (tmp_path / "help_waits.py").write_text(WAITS.format(before=""))
    nobody_tells = "ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)"  # only the pipe is left
    (tmp_path / "help_pipe.py").write_text(WAITS.format(before=nobody_tells))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_the_answer_is_the_last_line() -> None:
    helper = Helper("help_echo", b"this")

    assert helper.wait(SECONDS)
    assert helper.answer == b"heard this"


def test_one_that_cannot_run_answers_with_its_trouble() -> None:
    helper = Helper("no_such_module_anywhere", b"")

    assert helper.wait(SECONDS)
    assert b"No module named no_such_module_anywhere" in helper.answer


def test_nothing_of_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "dragoman.py").write_text("raise SystemExit('this is not ours')")
    monkeypatch.chdir(folder)
    helper = Helper("help_echo", b"this")

    assert helper.wait(SECONDS)
    assert helper.answer == b"heard this"


def test_it_can_be_ended() -> None:
    helper = Helper("help_waits", b"")
    assert not helper.wait(0.0)

    helper.end()

    assert helper.wait(0.0)
    with pytest.raises(ProcessLookupError):
        os.kill(helper.pid, 0)


@needs_linux
@pytest.mark.parametrize("module", ["help_waits", "help_pipe"])
def test_it_is_gone_when_we_are_killed(module: str) -> None:
    assert is_gone_with([sys.executable, "-c", PARENT, module])
