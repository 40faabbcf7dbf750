from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("this is for POSIX systems", allow_module_level=True)

from dragoman.drive.process import posix
from dragoman.drive.process.reaping import TAG, Known, read_stat

SLEEP = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")

needs_proc = pytest.mark.skipif(not posix.HAS_PROC, reason="identity is read from /proc")


def sleeping() -> subprocess.Popen[bytes]:
    return subprocess.Popen(SLEEP, env={**os.environ, TAG: "mine"}, start_new_session=True)


@pytest.mark.skipif(not posix._dying_with_us(), reason="there is no setpriv that can do it")
@pytest.mark.parametrize("supervised", [True, False])
def test_an_agent_dies_with_us_even_without_the_reaper(supervised: bool) -> None:
    child = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    source = (
        "import subprocess, sys\nfrom dragoman.drive.process import posix\n"
        f"posix.is_supervised = lambda: {supervised}\n"
        f"argv = posix.command_line([sys.executable, '-I', '-S', '-c', {child!r}])\n"
        "child = subprocess.Popen(argv)\nsys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait(timeout=5)
    parent.stdout.close()
    assert parent.stdin
    parent.stdin.close()

    wait_for(lambda: (stat := read_stat(pid)) is None or stat.state == "Z")


def wait_for(claim: object, seconds: float = 5) -> None:
    assert callable(claim)
    pause = threading.Event()
    for _ in range(int(seconds * 50)):
        if claim():
            return
        pause.wait(0.02)
    pytest.fail("it did not happen")


@pytest.mark.parametrize("program", ["exit 1", "exec sleep 60"])
def test_a_setpriv_that_cannot_do_it_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    setpriv = tmp_path / "setpriv"
    setpriv.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
    setpriv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(posix, "_PROBE_SECONDS", 0.2)
    monkeypatch.setattr(posix, "is_supervised", lambda: False)
    posix._dying_with_us.cache_clear()
    try:
        assert posix.command_line(["cat", "-"]) == ("cat", "-")
        monkeypatch.setenv("PATH", "/nowhere")
        posix._dying_with_us.cache_clear()
        assert posix.command_line(["cat"]) == ("cat",)
    finally:
        posix._dying_with_us.cache_clear()


@needs_proc
def test_a_child_is_known_by_its_start() -> None:
    process = sleeping()
    known = posix.identify(process.pid, "mine")
    process.kill()
    process.wait(timeout=5)

    assert known.pid == process.pid
    assert known.start > 0
    assert posix.identify(process.pid, "mine") == Known("mine")
    assert posix.identify(1, "mine") == Known("mine"), "who is not our child is none of ours"


@needs_proc
def test_a_group_is_signalled_only_while_its_leader_is_who_it_was() -> None:
    process = sleeping()
    known = posix.identify(process.pid, "mine")

    posix.kill_group(known._replace(start=known.start - 1))
    posix.kill_group(Known("mine"))
    assert process.poll() is None

    posix.terminate_group(known)
    assert process.wait(timeout=5) == -signal.SIGTERM
    posix.terminate_group(known)


@pytest.mark.parametrize("has_proc", [True, False])
def test_who_is_left_is_ended(monkeypatch: pytest.MonkeyPatch, has_proc: bool) -> None:
    if has_proc and not posix.HAS_PROC:
        pytest.skip("there is no /proc")
    process = sleeping()
    known = posix.identify(process.pid, "mine")
    monkeypatch.setattr(posix, "HAS_PROC", has_proc)

    assert posix.is_anybody_left(known)
    posix.terminate_left(known)
    assert process.wait(timeout=5) == -signal.SIGTERM
    assert not posix.is_anybody_left(known)
    posix.kill_left(known)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")
def test_a_pipe_is_enlarged_if_the_system_allows() -> None:
    import fcntl

    read, write = os.pipe()
    with open(read, "rb") as file, open(write, "wb"):
        before = fcntl.fcntl(read, fcntl.F_GETPIPE_SZ)
        posix.enlarge(file)
        assert fcntl.fcntl(read, fcntl.F_GETPIPE_SZ) >= before
    posix.enlarge(file)
    posix.enlarge(None)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exited with status 0"),
        (3, "exited with status 3"),
        (-9, "killed by SIGKILL"),
        (-250, "killed by signal 250"),
    ],
)
def test_an_exit_code_in_words(code: int, words: str) -> None:
    assert posix.describe(code) == words
