"""Rows that an agent writes into its files arrive among the lines of its link."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from dragoman.drive.links import session_files
from dragoman.drive.links.link import Closed, Exit, Link, Receive
from dragoman.drive.links.session_files import seconds_to_resume, with_session_files
from dragoman.harnesses.contract.session_files import SessionFiles, row_in
from dragoman.wire.lines import LongLine


class _Link:
    """A link that says what a test wants it to."""

    pid = None
    is_supervised = False
    exit: Exit | None = None
    stderr_tail = ""

    def __init__(self, receive: Receive, closed: Closed) -> None:
        self.receive = receive
        self.closed = closed

    def send(self, lines: Iterable[bytes]) -> None: ...

    async def drained(self) -> None: ...

    async def stop(self) -> Exit:
        self.closed()
        return Exit()


def _session_in(line: bytes) -> str | None:
    return line.partition(b"opened ")[2].decode() or None


def _files(folder: Path, pause: float = 0.0) -> SessionFiles:
    return SessionFiles(
        pattern=lambda env, session_id: f"{folder}/{session_id}.jsonl",
        agents=lambda path, session_id: f"{folder}/{session_id}-*.jsonl",
        session_in=_session_in,
        resume_pause=lambda names, now: pause if names else 0.0,
        resume_reason="it is too early",
    )


async def _open(
    files: SessionFiles, resumed: str | None, got: Callable[[list[bytes | LongLine]], None]
) -> tuple[_Link, Link]:
    made: list[_Link] = []

    async def open_link(receive: Receive, closed: Closed) -> Link:
        made.append(_Link(receive, closed))
        return made[0]

    link = await with_session_files(open_link, files, {}, resumed)(got, lambda: None)
    return made[0], link


def _shown(line: bytes | LongLine) -> str:
    assert isinstance(line, bytes)
    row = row_in(line)
    return row.row.decode() if row is not None else line.decode()


def test_rows_come_before_the_lines_that_arrive_after_they_were_written(tmp_path: Path) -> None:
    got: list[bytes | LongLine] = []

    async def play() -> None:
        wire, link = await _open(_files(tmp_path), None, got.extend)
        wire.receive([b"hello"])
        (tmp_path / "s1.jsonl").write_bytes(b'{"n":0}\n')
        wire.receive([b"opened s1"])
        with (tmp_path / "s1.jsonl").open("ab") as file:
            file.write(b'{"n":1}\nnot json\n{"n":')
        wire.receive([b"next"])
        with (tmp_path / "s1.jsonl").open("ab") as file:
            file.write(b"2}\n")
        await link.stop()

    asyncio.run(play())
    assert [*map(_shown, got)] == ["hello", '{"n":0}', "opened s1", '{"n":1}', "next", '{"n":2}']


def test_what_a_resumed_session_has_said_before_is_no_news(tmp_path: Path) -> None:
    got: list[bytes | LongLine] = []
    (tmp_path / "s1.jsonl").write_bytes(b'{"old":1}\n')

    async def play() -> None:
        wire, link = await _open(_files(tmp_path), "s1", got.extend)
        (tmp_path / "s1-agent.jsonl").write_bytes(b'{"new":2}\n')
        with (tmp_path / "s1.jsonl").open("ab") as file:
            file.write(b'{"new":1}\n')
        wire.receive([b"next"])
        await link.stop()

    asyncio.run(play())
    assert sorted(map(_shown, got)) == ["next", '{"new":1}', '{"new":2}']


def test_a_row_that_is_written_late_arrives_while_the_agent_is_silent(tmp_path: Path) -> None:
    async def play() -> str:
        arrived: asyncio.Queue[str] = asyncio.Queue()

        def got(lines: list[bytes | LongLine]) -> None:
            for line in lines:
                arrived.put_nowait(_shown(line))

        wire, link = await _open(_files(tmp_path), None, got)
        wire.receive([b"opened s1"])
        assert await arrived.get() == "opened s1"
        (tmp_path / "s1.jsonl").write_bytes(b'{"late":1}\n')
        try:
            async with asyncio.timeout(20):
                return await arrived.get()
        finally:
            await link.stop()

    assert asyncio.run(play()) == '{"late":1}'


def test_rows_arrive_as_long_as_the_agent_is_silent_and_none_after_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_files, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(session_files, "_LONGEST_PAUSE", 0.002)

    async def play() -> list[str]:
        arrived: asyncio.Queue[str] = asyncio.Queue()
        seen: list[str] = []

        def got(lines: list[bytes | LongLine]) -> None:
            for line in lines:
                arrived.put_nowait(_shown(line))

        wire, link = await _open(_files(tmp_path), None, got)
        wire.receive([b"opened s1"])
        async with asyncio.timeout(20):
            seen.append(await arrived.get())
            for number in range(40):  # more looks than there are quick ones
                with (tmp_path / "s1.jsonl").open("ab") as file:
                    file.write(b'{"n":%d}\n' % number)
                seen.append(await arrived.get())
        await link.stop()
        with (tmp_path / "s1.jsonl").open("ab") as file:
            file.write(b'{"late":1}\n')
        await asyncio.sleep(0.01)
        assert arrived.empty()
        return seen

    assert asyncio.run(play())[1:] == [f'{{"n":{number}}}' for number in range(40)]


@pytest.mark.parametrize(("name", "seconds"), [("s1", 30.0), ("s2", 0.0)])
def test_how_long_a_session_cannot_be_resumed(tmp_path: Path, name: str, seconds: float) -> None:
    (tmp_path / "s1.jsonl").write_bytes(b"{}\n")

    assert seconds_to_resume(_files(tmp_path, pause=30.0), {}, name, 0.0) == seconds
