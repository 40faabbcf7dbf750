from __future__ import annotations

import io
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.rehearsal.process_groups import run_in_group

_SECONDS = 30
_RUN = """
import os, sys
from dragoman.rehearsal import process_groups
process_groups.GRACE_SECONDS = float(sys.argv[1])
sys.exit(process_groups.run_in_group([sys.executable, "-u", "-c", sys.argv[2]], os.environ))
"""
_ON_A_TERMINAL = "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n" + _RUN
_STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid())
time.sleep(60)
"""
_POLITE = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print(os.getpid())
time.sleep(60)
"""


def test_the_exit_code_is_that_of_the_command() -> None:
    def run(code: str) -> int:
        return run_in_group([sys.executable, "-c", code], os.environ)

    assert run("pass") == 0
    assert run("raise SystemExit(3)") == 3
    assert run("import os; os.kill(os.getpid(), 9)") == 137


def test_the_command_gets_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "out"

    run_in_group(["/bin/sh", "-c", f'printf %s "$WORD" > {path}'], {"WORD": "hello"})

    assert path.read_text(encoding="utf-8") == "hello"


def test_what_the_command_leaves_behind_is_killed(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with os.fdopen(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as reader:
        run_in_group(["/bin/sh", "-c", f"exec 3> {fifo}; sleep 60 &"], os.environ)

        # The sleeper held the other end: when it is gone, there is an end to read.
        assert select.select([reader], [], [], _SECONDS)[0] == [reader]
        assert reader.read() == b""


@pytest.mark.parametrize(
    ("grace", "command", "code"), [(20.0, _POLITE, 7), (0.05, _STUBBORN, 128 + signal.SIGKILL)]
)
def test_a_signal_is_passed_on_and_insisted_on(grace: float, command: str, code: int) -> None:
    words = [sys.executable, "-c", _RUN, str(grace), command]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as runner:
        assert runner.stdout is not None
        child = int(runner.stdout.readline())
        runner.terminate()
        assert runner.wait(_SECONDS) == code

    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.parametrize(
    ("command", "typed", "heard", "code"),
    [
        ("print('ready'); print('heard', input())", b"word\n", b"heard word", 0),
        ("import time; print('ready'); time.sleep(60)", b"\x03", b"KeyboardInterrupt", 130),
    ],
)
def test_the_keyboard_belongs_to_the_command(
    command: str, typed: bytes, heard: bytes, code: int
) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", _ON_A_TERMINAL, "20", command]
    with (
        os.fdopen(ours, "r+b", buffering=0) as screen,
        subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        ) as runner,
    ):
        os.close(theirs)
        seen = _until(screen, b"ready")
        screen.write(typed)
        seen += _until(screen, heard)
        assert runner.wait(_SECONDS) == code
        assert heard in seen


def _until(screen: io.FileIO, words: bytes) -> bytes:
    seen = b""
    while words not in seen:
        assert select.select([screen], [], [], _SECONDS)[0], seen
        seen += screen.read(1000) or b""
    return seen
