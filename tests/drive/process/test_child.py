from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from dragoman.drive.process import child as module
from dragoman.drive.process.child import Process, open_process
from dragoman.drive.process.reaper import reaper
from dragoman.errors import AgentNotFound, InvalidWorkspace, ProcessExited
from dragoman.harnesses.contract.transport import Launch
from dragoman.wire.lines import LongLine
from support.agents.children import ECHO, QUICK, Heard, python, run, running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the children are POSIX programs")


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
