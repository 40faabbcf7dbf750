from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from dragoman.drive.process import pipes as module
from dragoman.drive.process.pipes import Pipes
from dragoman.drive.process.stderr import StderrTail
from dragoman.wire.lines import LongLine


class Transport:
    """A process that does what the test says."""

    def __init__(self) -> None:
        self.closes = 0

    def get_pipe_transport(self, fd: int) -> None:
        return None

    def get_returncode(self) -> int:
        return 7

    def close(self) -> None:
        self.closes += 1


class Case:
    def __init__(self) -> None:
        self.told: list[bytes | LongLine | str] = []
        self.stderr = StderrTail()
        self.transport = Transport()
        self.pipes = Pipes(
            self.told.extend,
            lambda: self.told.append("closed"),
            stderr=self.stderr,
            max_line=None,
        )
        self.pipes.connection_made(cast(asyncio.BaseTransport, self.transport))

    async def end(self) -> None:
        async with asyncio.timeout(5):
            await self.pipes.finished


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LAST_WORDS_SECONDS", 0.05)
    monkeypatch.setattr(module, "_STDERR_SECONDS", 0.02)


def play(main: Callable[[Case], Awaitable[None]]) -> None:
    async def run() -> None:
        await main(Case())

    asyncio.run(run())


@pytest.mark.parametrize("order", ["x12", "x21", "1x2", "12x", "2x1", "21x"])
def test_it_is_over_when_all_have_ended_in_whatever_order(order: str) -> None:
    async def main(case: Case) -> None:
        case.pipes.pipe_data_received(1, b"one\ntwo")
        for what in order:
            assert case.told == [b"one"]
            if what == "x":
                case.pipes.process_exited()
            else:
                case.pipes.pipe_connection_lost(int(what), None)

        assert case.told == [b"one", b"two", "closed"]
        assert case.pipes.returncode == 7
        case.pipes.finish()
        case.pipes.release()
        assert case.told.count("closed") == 1
        assert case.transport.closes == 1

    play(main)


def test_output_that_somebody_holds_is_read_for_a_while() -> None:
    async def main(case: Case) -> None:
        case.pipes.process_exited()
        case.pipes.pipe_data_received(1, b"late")
        case.pipes.pipe_connection_lost(2, None)
        await case.end()
        case.pipes.pipe_data_received(1, b"too late\n")
        case.pipes.pipe_connection_lost(1, None)

        assert case.told == [b"late", "closed"]

    play(main)


def test_standard_error_that_somebody_holds_is_read_for_a_moment() -> None:
    async def main(case: Case) -> None:
        case.pipes.process_exited()
        case.pipes.pipe_connection_lost(1, None)
        case.pipes.pipe_data_received(2, b"last words\n")
        await case.end()

        assert case.told == ["closed"]
        assert case.stderr.text() == "last words"

    play(main)


def test_a_process_that_stays_without_output_is_over() -> None:
    async def main(case: Case) -> None:
        case.pipes.pipe_connection_lost(1, None)
        assert case.told == []
        await case.end()

        assert case.told == ["closed"]
        assert case.pipes.returncode is None

    play(main)


def test_the_end_is_told_even_if_the_last_line_was_not_taken() -> None:
    def refuse(lines: object) -> None:
        raise RuntimeError("not taken")

    async def main(case: Case) -> None:
        case.pipes._receive = refuse
        case.pipes.pipe_data_received(1, b"last")
        with pytest.raises(RuntimeError):
            case.pipes.finish()

        assert case.told == ["closed"]

    play(main)


def test_nothing_is_written_where_there_is_no_input() -> None:
    async def main(case: Case) -> None:
        assert not case.pipes.has_input
        case.pipes.write(b"to nobody")
        case.pipes.close_input()
        async with asyncio.timeout(5):
            await case.pipes.drain()

    play(main)
