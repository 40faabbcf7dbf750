from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from dragoman.drive.process import reaper as module
from dragoman.drive.process.child import Process
from dragoman.drive.process.reaper import Reaper, can_run, reaper
from dragoman.drive.process.reaping import Known, read_stat
from dragoman.harnesses.contract.transport import Launch

pytestmark = pytest.mark.skipif(not can_run(), reason="there is no reaper on this system")

PARENT = """
import asyncio, os, sys
from dragoman.drive.process.child import Process
from dragoman.drive.process.reaper import reaper
from dragoman.harnesses.contract.transport import Launch

AGENT = '''
import signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
near = subprocess.Popen(sleep, env={})
far = subprocess.Popen(sleep, start_new_session=True)
import os
print(os.getpid(), near.pid, far.pid, flush=True)
import time
while True: time.sleep(60)
'''

async def main():
    told = asyncio.get_running_loop().create_future()
    def receive(lines):
        told.set_result(lines[0].decode())
    await Process.start(
        Launch(argv=(sys.executable, "-I", "-S", "-c", AGENT)), receive, lambda: None
    )
    # Only now does the reaper know more of the agent than its tag.
    print(await told, reaper.pid, flush=True)
    ACTION

asyncio.run(main())
"""


@contextmanager
def parent(action: str) -> Generator[tuple[subprocess.Popen[str], list[int]]]:
    """A process that drives an agent with a family, and the numbers of all of them."""
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT.replace("ACTION", action)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout
        yield process, [int(word) for word in process.stdout.readline().split()]
    finally:
        process.kill()
        process.communicate(timeout=5)


def wait_until_gone(pids: list[int], seconds: float = 5) -> None:
    pause = threading.Event()
    for _ in range(int(seconds * 50)):
        if not any(map(is_alive, pids)):
            return
        pause.wait(0.02)
    pytest.fail(f"still there: {[pid for pid in pids if is_alive(pid)]}")


def is_alive(pid: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and stat.state != "Z"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nobody_is_left_when_we_are_killed(number: signal.Signals) -> None:
    with parent("sys.stdin.read()") as (process, pids):
        assert len(pids) == 4
        assert all(map(is_alive, pids))

        process.send_signal(number)
        process.wait(timeout=5)
        wait_until_gone(pids)


def test_nobody_is_left_when_we_just_leave() -> None:
    with parent("os._exit(0)") as (process, pids):
        assert len(pids) == 4

        process.wait(timeout=5)
        wait_until_gone(pids)


def test_a_fork_of_ours_does_not_hold_it_back() -> None:
    action = "os.fork() or sys.stdin.read(); sys.stdin.read()"
    with parent(action) as (process, pids):
        process.kill()
        process.wait(timeout=5)
        wait_until_gone(pids)


def test_a_fork_that_does_not_know_of_it_does_not_hold_it_back() -> None:
    """As a library in C would do it: nothing is closed in the child."""
    action = "os.dup(reaper._input); os.fork(); sys.stdin.read()"
    with parent(action) as (process, pids):
        process.kill()
        process.wait(timeout=5)
        wait_until_gone(pids)


def start(argv: tuple[str, ...] = ("cat",)) -> None:
    async def main() -> None:
        async with asyncio.timeout(20):
            process = await Process.start(Launch(argv=argv), lambda lines: None, lambda: None)
            await process.stop()

    asyncio.run(main())


def test_all_loops_and_threads_share_one() -> None:
    start()
    pid = reaper.pid
    assert is_alive(pid)
    before = dict(reaper._known)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)

    assert reaper.pid == pid
    assert is_alive(pid)
    assert reaper._known == before


def test_another_takes_the_place_of_one_that_was_killed() -> None:
    ours = Reaper()
    ours.announce("first")
    old = ours.pid
    os.kill(old, signal.SIGKILL)
    os.waitpid(old, 0)

    ours.record(Known("second", 1 << 29, 5))
    new = ours.pid

    assert new not in (0, old)
    assert is_alive(new)
    ours.forget("first")
    ours.close()
    os.waitpid(new, 0)
    assert ours.pid == 0


def test_it_leaves_quietly_when_there_is_nothing_to_do() -> None:
    ours = Reaper()
    ours.announce("one")
    pid = ours.pid
    ours.forget("one")
    ours.forget("never")
    os.set_blocking(ours._input, True)
    ours.close()
    ours.close()

    _, status = os.waitpid(pid, 0) if is_alive(pid) else (0, 0)
    assert status == 0


def test_without_an_interpreter_we_go_on_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Reaper()
    monkeypatch.setattr(module.sys, "executable", "/no/such/python")
    ours.announce("one")

    assert ours.pid == 0
    ours.announce("two")
    ours.forget("one")


def test_a_frozen_program_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.sys, "frozen", True, raising=False)
    ours = Reaper()
    ours.announce("one")

    assert not can_run()
    assert ours.pid == 0
