"""The supervisor as a program of its own: how it ends, and that nothing below it survives."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

if sys.platform != "linux":
    pytest.skip("only Linux has child subreapers", allow_module_level=True)

from dragoman.drive.process import supervising
from dragoman.drive.process.reaping import read_stat

_SECONDS = 30
# Each prints its number. The last ignores SIGTERM, as a stubborn server does.
ESCAPES = (
    "env -i setsid {python} -c '{show}'",
    "(env -i setsid {python} -c '{show}' &)",
    "env -i setsid {python} -c '{deaf}{show}'",
)
_SHOW = "import os,time; print(os.getpid(), flush=True); os.close(1); time.sleep(600)"
_DEAF = "import signal; signal.signal(15, signal.SIG_IGN);"


def supervised(command: Sequence[str], parent: int | None = None) -> subprocess.Popen[bytes]:
    own = str(os.getpid() if parent is None else parent)
    return subprocess.Popen(
        [sys.executable, "-I", "-S", supervising.__file__, own, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def escaping(then: str) -> list[str]:
    lines = [
        each.format(python=sys.executable + " -I -S", show=_SHOW, deaf=_DEAF) + " &"
        for each in ESCAPES
    ]
    return ["sh", "-c", "\n".join([*lines, then])]


def pids(process: subprocess.Popen[bytes]) -> list[int]:
    assert process.stdout is not None
    return [int(process.stdout.readline()) for _ in ESCAPES]


def is_gone(pid: int) -> bool:
    return (stat := read_stat(pid)) is None or stat.state in "ZX"


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9), ("kill -TERM $$", -15), ("kill -6 $$", -6)],
)
def test_it_ends_the_way_its_command_did(script: str, code: int) -> None:
    with supervised(["sh", "-c", script]) as process:
        process.communicate(timeout=_SECONDS)
    assert process.returncode == code


def test_a_command_that_cannot_be_run_is_one_sentence() -> None:
    with supervised(["/nowhere/at/all"]) as process:
        _, said = process.communicate(timeout=_SECONDS)
    assert process.returncode == 127
    assert said == b"/nowhere/at/all cannot be run: No such file or directory\n"


def test_streams_are_the_commands_alone() -> None:
    with supervised(["cat"]) as process:
        assert process.communicate(b"through\n", timeout=_SECONDS) == (b"through\n", b"")
    # Its output has ended with it: the supervisor does not hold it open.
    with supervised(["sh", "-c", "exec >&-; exec sleep 600"]) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.poll() is None
        process.send_signal(signal.SIGUSR1)
        process.wait(_SECONDS)


_SIGNALS = ("grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status")
# glibc keeps 32 and 33 (SIGCANCEL, SIGSETXID) for itself: no program can set or clear them through it, and
# whether a process inherits them blocked depends on how its ancestors were started.
_OF_GLIBC = {32, 33}
_RESET = {signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ}


def signals(status: bytes) -> dict[str, set[int]]:
    """The signals of each mask in the lines of /proc/self/status."""
    found: dict[str, set[int]] = {}
    for line in status.decode().splitlines():
        name, _, mask = line.partition(":")
        found[name] = {each + 1 for each in range(64) if int(mask, 16) >> each & 1} - _OF_GLIBC
    return found


def test_signals_are_as_a_new_process_expects_them() -> None:
    plain = signals(subprocess.run(_SIGNALS, check=True, capture_output=True).stdout)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
    try:
        with supervised(_SIGNALS) as process:
            said, _ = process.communicate(timeout=_SECONDS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before & signal.valid_signals())
    # What the supervisor itself blocks, ignores or handles is not passed on; what it inherits is.
    assert signals(said) == {
        "SigBlk": plain["SigBlk"] | {signal.SIGWINCH},
        "SigIgn": plain["SigIgn"] - _RESET,
    }


def test_a_blocked_signal_of_glibc_is_no_warning() -> None:
    number = {"x86_64": 14, "aarch64": 135}[os.uname().machine]  # rt_sigprocmask
    source = (
        "import ctypes, os, sys\n"
        "mask = ctypes.c_uint64(1 << 31)\n"
        f"assert ctypes.CDLL(None).syscall({number}, 0, ctypes.byref(mask), None, 8) == 0\n"
        f"os.execv(sys.executable, [sys.executable, '-I', '-S', {supervising.__file__!r},"
        f" {str(os.getpid())!r}, 'true'])"
    )
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, timeout=_SECONDS)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    "then", ["wait_for_input() { cat >/dev/null; }; wait_for_input", "sleep 600"]
)
def test_whatever_left_is_ended_with_the_command(then: str) -> None:
    with supervised(escaping(then)) as process:
        left = pids(process)
        assert not any(map(is_gone, left))
        if then == "sleep 600":
            os.killpg(process.pid, signal.SIGTERM)  # as a whole group: the supervisor stays
        assert process.stdin is not None
        process.stdin.close()
        process.wait(_SECONDS)
    assert all(map(is_gone, left))


def test_it_can_be_told_to_end_everything_at_once() -> None:
    with supervised(escaping("sleep 600")) as process:
        left = pids(process)
        process.send_signal(signal.SIGUSR1)
        assert process.wait(_SECONDS) == -signal.SIGKILL
    assert all(map(is_gone, left))


def test_everything_ends_when_whoever_started_it_is_killed() -> None:
    source = (
        "import os, subprocess, sys\n"
        f"process = subprocess.Popen([sys.executable, '-I', '-S', {supervising.__file__!r},"
        f" str(os.getpid()), *{escaping('sleep 600')!r}], start_new_session=True)\n"
        "process.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE) as starter:
        left = pids(starter)
        handles = [os.pidfd_open(pid) for pid in left]
        starter.kill()
        starter.wait(_SECONDS)
    until = time.monotonic() + _SECONDS
    for handle in handles:
        assert select.select([handle], [], [], max(0.0, until - time.monotonic()))[0]
        os.close(handle)


def test_a_command_dies_with_its_supervisor() -> None:
    with supervised([sys.executable, "-I", "-S", "-c", _SHOW]) as process:
        assert process.stdout is not None
        handle = os.pidfd_open(int(process.stdout.readline()))
        process.kill()
        process.wait(_SECONDS)
    assert select.select([handle], [], [], _SECONDS)[0]
    os.close(handle)


def test_nothing_is_started_for_a_parent_that_is_gone() -> None:
    with supervised(["echo", "started"], parent=1 << 22) as process:
        assert process.communicate(timeout=_SECONDS)[0] == b""


def test_descendants_are_counted_from_their_root() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 600 & wait"], start_new_session=True) as process:
        until = time.monotonic() + _SECONDS
        while not supervising.below(process.pid) and time.monotonic() < until:
            time.sleep(0.01)
        [(child, start)] = supervising.below(process.pid)
        found = dict(supervising.below(os.getpid()))
        assert found[child] == start
        assert process.pid in found
        os.killpg(process.pid, signal.SIGKILL)
