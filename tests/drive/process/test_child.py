from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.process import child as module
from dragoman.drive.process import reaping
from dragoman.drive.process.child import Grace, Process, open_process
from dragoman.drive.process.reaper import reaper
from dragoman.errors import AgentNotFound, InvalidWorkspace, ProcessExited
from dragoman.harnesses.contract.transport import Launch
from dragoman.wire.lines import LongLine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the children are POSIX programs")

needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="who left the session is found in /proc"
)

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
QUICK = Grace(eof=0.1, terminate=0.1, left=0.2)


class Heard:
    """What came, and how often we were told that no more will."""

    def __init__(self) -> None:
        self.lines: list[bytes | LongLine] = []
        self.ends = 0
        self.lines_at_end = -1
        self._news = asyncio.Event()

    def receive(self, lines: list[bytes | LongLine]) -> None:
        assert not self.ends
        self.lines += lines
        self._news.set()

    def closed(self) -> None:
        self.ends += 1
        self.lines_at_end = len(self.lines)

    async def until(self, count: int) -> None:
        while len(self.lines) < count:
            self._news.clear()
            await self._news.wait()

    async def pid(self) -> int:
        """The first line is the number of a process."""
        await self.until(1)
        assert isinstance(self.lines[0], bytes)
        return int(self.lines[0])


def run(main: Coroutine[Any, Any, None], seconds: float = 20) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await main

    asyncio.run(bounded())


def python(source: str, **options: Any) -> Launch:
    return Launch(argv=(sys.executable, "-I", "-S", "-c", source), **options)


@asynccontextmanager
async def running(
    launch: Launch | str, **options: Any
) -> AsyncGenerator[tuple[Process, Heard], None]:
    heard = Heard()
    launch = python(launch) if isinstance(launch, str) else launch
    process = await Process.start(launch, heard.receive, heard.closed, **options)
    try:
        yield process, heard
    finally:
        await process.stop()


def is_alive(pid: int) -> bool:
    stat = reaping.read_stat(pid)
    return stat is not None and stat.state != "Z"


# Speaking.


def test_lines_go_both_ways_until_we_stop_it() -> None:
    async def main() -> None:
        async with running(ECHO) as (process, heard):
            assert process.exit is None
            process.send([b"one\n", b"two\n"])
            await process.drained()
            await heard.until(2)
            ended = await process.stop()

        assert heard.lines == [b"one", b"two"]
        assert (heard.ends, heard.lines_at_end) == (1, 2)
        assert ended.code == 0
        assert ended.reason == "exited with status 0"
        assert process.exit == ended

    run(main())


def test_a_last_line_without_a_newline_is_heard_before_the_end() -> None:
    async def main() -> None:
        async with running("print('one'); print('two', end='')") as (process, heard):
            ended = await process.finished()

        assert heard.lines == [b"one", b"two"]
        assert (heard.ends, heard.lines_at_end) == (1, 2)
        assert ended.code == 0

    run(main())


def test_a_line_of_sixty_megabytes_is_one_line() -> None:
    source = "import sys\nfor _ in range(60): sys.stdout.write('x' * (1 << 20))\nprint()"

    async def main() -> None:
        async with running(source) as (process, heard):
            await process.finished()

        assert [len(line) for line in heard.lines if isinstance(line, bytes)] == [60 << 20]

    run(main(), 60)


def test_a_line_beyond_the_limit_leaves_its_place() -> None:
    async def main() -> None:
        async with running("print('x' * 100000); print('on')", max_line=1000) as (process, heard):
            await process.finished()

        long, last = heard.lines
        assert isinstance(long, LongLine)
        assert long.length == 100000
        assert last == b"on"

    run(main())


def test_much_that_is_sent_at_once_arrives_whole() -> None:
    source = "import sys\nprint(len(sys.stdin.buffer.readline()), flush=True)\nsys.stdin.read()"

    async def main() -> None:
        async with running(source) as (process, heard):
            process.send([b"x" * (8 << 20), b"\n"])
            await process.drained()
            await heard.until(1)

        assert heard.lines == [b"%d" % ((8 << 20) + 1)]

    run(main())


def test_who_is_not_spoken_to_reads_an_empty_input() -> None:
    async def main() -> None:
        launch = python("import sys; print(repr(sys.stdin.read()))", stdin=False)
        async with running(launch) as (process, heard):
            process.send([b"to nobody\n"])
            await process.drained()
            await process.finished()

        assert heard.lines == [b"''"]

    run(main())


def test_sending_to_who_is_gone_is_no_error() -> None:
    async def main() -> None:
        async with running("") as (process, _):
            await process.finished()
            for _ in range(10):
                process.send([b"anybody there?\n"])
            await process.drained()
            await process.stop()
            process.send([b"still?\n"])
            await process.drained()

    run(main())


def test_sending_to_who_closed_its_input_is_no_error() -> None:
    source = "import os, sys, time\nos.close(0)\nprint('deaf', flush=True)\ntime.sleep(60)"

    async def main() -> None:
        async with running(source, grace=QUICK) as (process, heard):
            await heard.until(1)
            for _ in range(10):
                process.send([b"x" * 100_000])
                await process.drained()

    run(main())


def test_our_environment_and_directory_are_laid_over(tmp_path: Path) -> None:
    source = "import os; print(os.environ['COLOUR'], os.environ['HOME'], os.getcwd())"

    async def main() -> None:
        launch = python(source, cwd=str(tmp_path), env={"COLOUR": "red"})
        async with running(launch) as (process, heard):
            await process.finished()

        assert heard.lines == [f"red {os.environ['HOME']} {tmp_path}".encode()]

    run(main())


# Standard error.


def test_a_flood_on_standard_error_does_not_hold_up_the_output() -> None:
    source = """
import sys, threading
def flood():
    for number in range(200_000): sys.stderr.write(f'noise {number} ' + 'x' * 50 + '\\n')
thread = threading.Thread(target=flood); thread.start()
for number in range(20_000): print(number)
thread.join()
"""

    async def main() -> None:
        async with running(source) as (process, heard):
            await process.finished()

        assert heard.lines == [b"%d" % number for number in range(20_000)]
        assert process.stderr_tail.splitlines()[-1].startswith("noise 199999 ")
        assert len(process.stderr_tail) <= 2000
        assert 32_000 < len(process.stderr_text) <= 1 << 16

    run(main(), 60)


def test_secrets_are_not_in_the_tail() -> None:
    source = (
        "import os, sys; print('key', os.environ['SOME_API_KEY'], 'and swordfish', file=sys.stderr)"
    )

    async def main() -> None:
        launch = python(source, env={"SOME_API_KEY": "abcdefghijkl"})
        async with running(launch, secrets=["swordfish"]) as (process, _):
            await process.finished()

        assert process.stderr_tail == "key [secret] and [secret]"

    run(main())


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


# Starting.


@pytest.mark.parametrize("program", ["no-such-program-anywhere", "/no/such/program"])
def test_a_program_that_is_not_there_is_said_to_be_missing(program: str) -> None:
    async def main() -> None:
        with pytest.raises(AgentNotFound, match="is not on this machine"):
            await Process.start(Launch(argv=(program,)), print, print)

    run(main())


def test_a_file_that_may_not_be_run_is_said_to_be_so(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("", encoding="utf-8")

    async def main() -> None:
        with pytest.raises(AgentNotFound, match="may not be run"):
            await Process.start(Launch(argv=(str(program),)), print, print)

    run(main())


def test_a_directory_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    async def main() -> None:
        with pytest.raises(InvalidWorkspace, match="it is not there"):
            await Process.start(Launch(argv=("cat",), cwd=f"{file}s"), print, print)
        with pytest.raises(InvalidWorkspace, match="it is not a directory"):
            await Process.start(Launch(argv=("cat",), cwd=str(file)), print, print)

    run(main())


def test_arguments_that_no_process_can_have_are_explained() -> None:
    async def main() -> None:
        with pytest.raises(ProcessExited, match="null byte"):
            await Process.start(Launch(argv=("cat", "a\0b")), print, print)
        with pytest.raises(ProcessExited, match="longer than this system allows"):
            await Process.start(Launch(argv=("cat", "x" * (8 << 20))), print, print)

    run(main())


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FileNotFoundError(2, "gone meanwhile"), AgentNotFound),
        (PermissionError(13, "no"), AgentNotFound),
        (BlockingIOError(11, "too many processes"), ProcessExited),
    ],
)
def test_what_the_system_says_becomes_one_of_our_errors(
    error: OSError, kind: type[Exception]
) -> None:
    assert type(module._explain(Launch(argv=("cat",)), error)) is kind


def test_a_cancelled_start_leaves_nobody() -> None:
    async def main() -> None:
        known = len(reaper._known)
        for _ in range(5):
            start = asyncio.ensure_future(Process.start(Launch(argv=("cat",)), print, print))
            for _ in range(2):
                await asyncio.sleep(0)
            start.cancel()
            with pytest.raises(asyncio.CancelledError):
                await start
        assert len(reaper._known) == known

    run(main())


def test_a_process_is_opened_as_a_link() -> None:
    async def main() -> None:
        heard = Heard()
        link = await open_process(python("print('hello')"))(heard.receive, heard.closed)
        await heard.until(1)
        await link.stop()

        assert heard.lines == [b"hello"]

    run(main())
