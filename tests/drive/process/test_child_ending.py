"""A process ends with everything that it started."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading

import pytest

from dragoman.drive.process import reaping
from dragoman.drive.process.child import Process
from dragoman.harnesses.contract.transport import Launch
from support.agents.children import ECHO, QUICK, Heard, python, run, running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the children are POSIX programs")


needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="who left the session is found in /proc"
)


def is_alive(pid: int) -> bool:
    stat = reaping.read_stat(pid)
    return stat is not None and stat.state != "Z"


# Ending.


def test_who_ignores_us_is_killed() -> None:
    source = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('deaf', flush=True)\nwhile True: time.sleep(60)"
    )

    async def main() -> None:
        async with running(source, grace=QUICK) as (process, heard):
            await heard.until(1)
            ended = await process.stop()

        assert ended.code == -signal.SIGKILL
        assert ended.reason == "killed by SIGKILL"
        assert heard.ends == 1

    run(main())


def test_last_words_are_given_time() -> None:
    source = (
        "import sys, time\nprint('up', flush=True)\nsys.stdin.read()\ntime.sleep(0.5)\n"
        "print('last words')"
    )

    async def main() -> None:
        async with running(source) as (process, heard):
            await heard.until(1)
            ended = await process.stop()

        assert heard.lines == [b"up", b"last words"]
        assert ended.code == 0

    run(main())


def test_many_may_stop_it_at_once_and_again() -> None:
    async def main() -> None:
        async with running(ECHO) as (process, heard):
            ends = await asyncio.gather(*(process.stop() for _ in range(5)))
            ends.append(await process.stop())

        assert {end.code for end in ends} == {0}
        assert heard.ends == 1

    run(main())


def test_who_waits_for_the_stop_may_be_cancelled() -> None:
    source = (
        "import sys, time\nprint('up', flush=True)\nsys.stdin.read()\ntime.sleep(0.3)\n"
        "print('done')"
    )

    async def main() -> None:
        async with running(source) as (process, heard):
            await heard.until(1)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await process.stop()
            ended = await process.stop()

        assert ended.code == 0
        assert heard.lines == [b"up", b"done"]

    run(main())


def test_the_end_of_the_event_loop_leaves_nobody() -> None:
    source = (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(os.getpid(), flush=True)\nwhile True: time.sleep(60)"
    )
    pids: list[int] = []

    async def main() -> None:
        heard = Heard()
        process = await Process.start(python(source), heard.receive, heard.closed)
        pids.append(await heard.pid())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await process.stop()

    run(main())
    gc.collect()  # a process that was not waited for would say so now, and that is an error here

    _wait_until_gone(pids)


def _wait_until_gone(pids: list[int], seconds: float = 5) -> None:
    pause = threading.Event()
    for _ in range(int(seconds * 50)):
        if not any(map(is_alive, pids)):
            return
        pause.wait(0.02)
    pytest.fail(f"still there: {[pid for pid in pids if is_alive(pid)]}")


GRANDCHILD = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"], {options})
print(child.pid, flush=True)
print("parent leaves", flush=True)
{then}
os._exit(3)
"""


@needs_proc
def test_a_grandchild_that_holds_the_output_does_not_hold_us() -> None:
    async def main() -> None:
        source = GRANDCHILD.format(options="", then="")
        async with running(source) as (process, heard):
            pid = await heard.pid()
            async with asyncio.timeout(5):
                ended = await process.finished()
            assert ended.code == 3
            assert heard.lines[1:] == [b"parent leaves"]
            assert not is_alive(pid), "its supervisor ends what it left"
            await process.stop()

        assert heard.ends == 1

    run(main())


@needs_proc
def test_a_stop_does_not_wait_for_who_holds_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ("child", "pipes"):
        monkeypatch.setattr(f"dragoman.drive.process.{each}.LAST_WORDS_SECONDS", 600)

    async def main() -> None:
        source = GRANDCHILD.format(options="", then="sys.stdin.read()")
        async with running(source) as (process, heard):
            pid = await heard.pid()
            await process.stop()
            assert not is_alive(pid)

    run(main())


@needs_proc
def test_a_grandchild_that_went_away_is_found_by_its_tag() -> None:
    async def main() -> None:
        source = GRANDCHILD.format(
            options="start_new_session=True, stdout=subprocess.DEVNULL", then="sys.stdin.read()"
        )
        async with running(source) as (process, heard):
            pid = await heard.pid()
            assert os.getsid(pid) == pid
            await process.stop()
            assert not is_alive(pid)

    run(main())


@needs_proc
def test_a_grandchild_without_our_tag_is_found_by_its_group() -> None:
    async def main() -> None:
        source = GRANDCHILD.format(options="env={}, stdout=subprocess.DEVNULL", then="")
        async with running(source) as (process, heard):
            pid = await heard.pid()
            await process.finished()
            await process.stop()
            assert not is_alive(pid)

    run(main())


def test_who_closes_its_output_and_stays_is_reported_and_ended() -> None:
    source = "import os, time\nos.close(1)\ntime.sleep(60)"

    async def main() -> None:
        async with running(source, grace=QUICK) as (process, heard):
            ended = await process.finished()
            assert ended.code is None
            assert ended.reason == "closed its standard output"
            assert heard.ends == 1
            ended = await process.stop()
            assert ended.code == -signal.SIGTERM

    run(main())


def test_quick_starts_and_stops_leak_nothing() -> None:
    async def main() -> None:
        async with running(Launch(argv=("cat",))):
            pass
        before = len(os.listdir("/dev/fd"))
        threads = threading.active_count()
        for _ in range(5):
            async with asyncio.TaskGroup() as group:
                for _ in range(20):
                    group.create_task(start_and_stop())
        assert len(os.listdir("/dev/fd")) == before
        assert threading.active_count() <= threads + 5

    async def start_and_stop() -> None:
        async with running(Launch(argv=("cat",))) as (process, heard):
            process.send([b"hello\n"])
            await heard.until(1)
            assert (await process.stop()).code == 0

    run(main(), 60)
