"""Saved sessions in the stream of all sessions: a real archive on a home of its own, files as a terminal writes them."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.index.updating import Progress
from dragoman.archive.saved import SavedSession
from dragoman.hub.hub import LiveSession
from dragoman.store.database import IndexUnusable
from dragoman.web.archive_worker import ArchiveWorker
from dragoman.web.streams.broadcasting import ListChannel
from dragoman.web.streams.saved_list import NEWEST, SavedList
from support.archive.saved_sessions import Rows, file_name, save, session_id
from support.page.fake_hub import FakeHub
from support.page.web_stage import Events, play, web_stage


@pytest.fixture(autouse=True)
def _always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """The index is looked after with every question, and not every few seconds."""
    monkeypatch.setattr("dragoman.web.archive_worker._FRESH_SECONDS", 0.0)


class Delivery:
    """The events of one reader of the list, one by one."""

    def __init__(self, frames: AsyncGenerator[bytes]) -> None:
        self._frames = frames
        self._events: list[tuple[str, Any]] = []

    async def next(self) -> tuple[str, Any]:
        while not self._events:
            self._events += events(await anext(self._frames))
        return self._events.pop(0)


def events(frames: bytes) -> list[tuple[str, Any]]:
    """Their names, and what they say."""
    pairs = [frame.split("\n") for frame in frames.decode().split("\n\n") if frame]
    return [(event[7:], json.loads(data[6:])) for event, data in pairs]


class Watched(SessionArchive):
    """An archive that says when it is asked something, and is in such trouble as it is told to be."""

    def __init__(self, folder: Path, terminal: Terminal) -> None:
        super().__init__(home=folder / "home", cache=folder / "cache")
        self._terminal = terminal

    def begin_index(self) -> Progress | None:
        return self._terminal.left or super().begin_index()

    def wait_index(self, seconds: float) -> Progress | None:
        self._terminal.note("wait")
        return self._terminal.left or super().wait_index(seconds)

    def mark(self) -> object:
        self._terminal.note("mark")
        if self._terminal.problem is not None:
            raise self._terminal.problem
        return super().mark()

    def sessions(self, **given: Any) -> list[SavedSession]:
        self._terminal.note("sessions")
        found = super().sessions(**given)
        self._terminal.listed(found)
        return found


class Channel(ListChannel):
    """A list that says when nothing is kept of saved sessions any more."""

    def __init__(self, sessions: Callable[[], list[LiveSession]]) -> None:
        self.forgotten = asyncio.Event()
        super().__init__(sessions)
        self.forgotten.clear()

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "saved" and value is None:
            self.forgotten.set()


class Terminal:
    """A home in which somebody works, and a list that looks at it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.hub = FakeHub(folder)
        self.asked: Counter[str] = Counter()
        """What the archive was asked, and how often."""
        self.left: Progress | None = None
        """How far the index is, while it is built."""
        self.problem: IndexUnusable | None = None
        self.listed: Callable[[list[SavedSession]], None] = lambda _: None
        """Called in the thread of the archive when sessions have been listed."""
        self._loop = asyncio.get_running_loop()
        self._noted = asyncio.Event()
        self.archive_worker = ArchiveWorker(lambda: Watched(folder, self))
        self.channel = Channel(self.hub.sessions)

    def note(self, what: str) -> None:
        """In the thread of the archive."""
        self.asked[what] += 1
        self._loop.call_soon_threadsafe(self._noted.set)

    async def looks(self, times: int) -> None:
        """Wait until it has been looked so many times more."""
        await self._until("mark", times)

    async def waits(self, times: int) -> None:
        """Wait until so many have found the index unfinished."""
        await self._until("wait", times)

    async def _until(self, what: str, times: int) -> None:
        until = self.asked[what] + times
        while self.asked[what] < until:
            self._noted.clear()
            await self._noted.wait()

    @asynccontextmanager
    async def followed(self) -> AsyncGenerator[None]:
        async with SavedList(self.hub, self.archive_worker, self.channel, seconds=0.01).open():
            yield
        await self.archive_worker.close()

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[tuple[Delivery, Any]]:
        """A reader, and what it was told of saved sessions at first."""
        with self.channel.reading() as frames:
            told = Delivery(frames)
            assert (await told.next())[0] == "sessions"
            kind, said = await told.next()
            assert kind == "saved_sessions"
            yield told, said

    def write(self, number: int, rows: Rows) -> Path:
        return save(self.home, number, rows.data)


def test_what_is_there_comes_first_and_then_what_is_begun_and_gone_on_with(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        rows = Rows(1).turn("first", "one")
        terminal.write(1, rows)
        async with terminal.followed(), terminal.reading() as (told, said):
            assert said["are_all"]
            assert [each["title"] for each in said["sessions"]] == ["first"]

            terminal.write(2, Rows(2, cwd="/work/shop").turn("second", "two"))
            kind, said = await told.next()
            assert (kind, said["id"], said["title"]) == (
                "saved_session",
                session_id(2),
                "second",
            )
            assert (said["state"], said["cwd"], said["is_live"]) == (
                "done",
                "/work/shop",
                False,
            )

            before = said["updated_at"]
            with (terminal.home / file_name(1)).open("ab"):
                terminal.write(1, rows.begin("more"))
                kind, said = await told.next()
                assert (kind, said["id"], said["state"]) == (
                    "saved_session",
                    session_id(1),
                    "working",
                )
                terminal.write(1, rows.say("yes").end())
                kind, said = await told.next()
            assert (kind, said["state"]) == ("saved_session", "done")
            assert said["updated_at"] < before  # by the rows' own times

    play(story())


def test_what_is_archived_brought_back_and_deleted_is_told(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        path = terminal.write(1, Rows(1).turn("first", "one"))
        async with terminal.followed(), terminal.reading() as (told, _):
            aside = terminal.home / "archived_sessions" / path.name
            aside.parent.mkdir()
            path.rename(aside)
            kind, said = await told.next()
            assert (kind, said["id"], said["archived"]) == ("saved_session", session_id(1), True)
            aside.rename(path)
            kind, said = await told.next()
            assert (kind, said["id"], said["archived"]) == ("saved_session", session_id(1), False)
            path.unlink()
            assert await told.next() == ("saved_gone", {"id": session_id(1)})

    play(story())


def test_a_session_whose_program_goes_without_a_word_is_no_longer_at_work(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        path = terminal.home / file_name(1)
        path.parent.mkdir(parents=True)
        async with terminal.followed(), terminal.reading() as (told, _):
            with path.open("ab"):
                terminal.write(1, Rows(1).begin("first"))
                _, said = await told.next()
                assert (said["state"], said["open_turn"]) == ("working", True)
            kind, said = await told.next()
            assert (kind, said["id"], said["state"]) == ("saved_session", session_id(1), "idle")
            assert said["open_turn"]

    play(story())


def test_what_the_hub_has_is_told_by_the_hub(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        rows = Rows(1).turn("first", "one")
        terminal.hub.add("live", native_id=session_id(1))
        async with terminal.followed(), terminal.reading() as (told, _):
            terminal.write(1, rows)
            terminal.write(2, Rows(2).turn("second", "two"))
            _, said = await told.next()
            assert said["id"] == session_id(2)
            terminal.write(1, rows.turn("more", "yes"))
            # Somebody takes the second one up again, in the page.
            terminal.hub.add("taken", native_id=session_id(2))
            assert await told.next() == ("saved_gone", {"id": session_id(2)})
            terminal.write(3, Rows(3).turn("third", "three"))
            _, said = await told.next()
            assert said["id"] == session_id(3)
            # And the third, by the name that it has.
            terminal.hub.add(session_id(3), native_id=session_id(3))
            await terminal.looks(3)
            terminal.write(4, Rows(4).turn("fourth", "four"))
            kind, said = await told.next()
            assert (kind, said["id"]) == ("saved_session", session_id(4))

    play(story())


def test_what_becomes_live_during_a_look_is_not_told(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        name = session_id(1)

        def begin(found: list[SavedSession]) -> None:
            if name in [each.id for each in found]:
                terminal.hub.add(name, native_id=name)

        terminal.listed = begin
        async with terminal.followed(), terminal.reading() as (told, _):
            terminal.write(1, Rows(1).turn("first", "one"))
            await terminal.looks(4)
            assert terminal.hub.get(name).id == name
            terminal.write(2, Rows(2).turn("second", "two"))
            kind, said = await told.next()
            assert (kind, said["id"]) == ("saved_session", session_id(2))

    play(story())


def test_sub_agents_and_sessions_older_than_the_newest_are_not_told(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        for number in range(1, NEWEST + 2):
            terminal.write(number, Rows(number).turn(f"the {number}.", "yes"))
        async with terminal.followed(), terminal.reading() as (told, said):
            assert not said["are_all"]
            assert [each["id"] for each in said["sessions"]] == [
                session_id(number) for number in range(NEWEST + 1, 1, -1)
            ]
            spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}
            terminal.write(900, Rows(900, source=spawn).turn("help", "helped"))
            terminal.write(0, Rows(0).turn("oldest", "one"))
            await terminal.looks(3)
            terminal.write(800, Rows(800).turn("newest", "one"))
            kind, said = await told.next()
            assert (kind, said["title"]) == ("saved_session", "newest")
            # One place is free again: the oldest of the newest comes back.
            (terminal.home / file_name(800)).unlink()
            assert (await told.next())[0] == "saved_gone"
            kind, said = await told.next()
            assert (kind, said["id"]) == ("saved_session", session_id(2))

    play(story())


def test_nobody_looks_while_nobody_reads(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        terminal.write(1, Rows(1).turn("first", "one"))
        async with terminal.followed():
            assert not terminal.channel.is_read.is_set()
            await terminal.archive_worker.ask(lambda _: None)
            assert not terminal.asked
            async with terminal.reading(), terminal.reading():
                assert terminal.channel.saved is not None
            assert not terminal.channel.is_read.is_set()
            await terminal.channel.forgotten.wait()
            count = terminal.asked["mark"]
            terminal.write(2, Rows(2).turn("second", "two"))
            await terminal.archive_worker.ask(lambda _: None)
            assert terminal.asked["mark"] == count
            # Who comes then is told all of it.
            async with terminal.reading() as (_, said):
                assert [each["title"] for each in said["sessions"]] == ["second", "first"]

    play(story())


def test_a_look_that_finds_nothing_new_lists_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        terminal.write(1, Rows(1).turn("first", "one"))
        for folder in terminal.home.glob("**/"):
            os.utime(folder, (0, 0))  # what has changed just now is looked at twice
        async with terminal.followed(), terminal.reading() as (told, _):
            await terminal.looks(2)
            listed = terminal.asked["sessions"]
            await terminal.looks(5)
            assert terminal.asked["sessions"] == listed
            terminal.write(2, Rows(2).turn("second", "two"))
            _, said = await told.next()
            assert said["title"] == "second"
            assert terminal.asked["sessions"] > listed

    play(story())


def test_what_another_program_writes_to_the_index_is_seen(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        async with terminal.followed(), terminal.reading() as (told, said):
            assert said == {"sessions": [], "are_all": True}
            with SessionArchive(home=terminal.home, cache=tmp_path / "cache") as other:
                terminal.write(1, Rows(1).turn("first", "one"))
                other.index()
            _, said = await told.next()
            assert said["title"] == "first"

    play(story())


def test_who_is_late_or_comes_later_is_told_what_there_is(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        session = terminal.hub.add("live")
        async with terminal.followed(), terminal.reading() as (late, said):
            assert said["sessions"] == []
            terminal.write(1, Rows(1).turn("first", "one"))
            async with terminal.reading() as (quick, said):
                if not said["sessions"]:
                    assert (await quick.next())[0] == "saved_session"
            for _ in range(600):
                terminal.channel.tell(session)
            assert (await late.next())[0] == "sessions"
            kind, said = await late.next()
            assert kind == "saved_sessions"
            assert [each["title"] for each in said["sessions"]] == ["first"]
            terminal.write(2, Rows(2).turn("second", "two"))
            kind, said = await late.next()
            assert (kind, said["title"]) == ("saved_session", "second")

    play(story())


def test_an_index_that_is_being_built_is_not_taken_for_all_there_is(tmp_path: Path) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        path = terminal.write(1, Rows(1).turn("first", "one"))
        async with terminal.followed(), terminal.reading() as (told, _):
            terminal.left = Progress(0, 1, 0, 1)
            await terminal.waits(1)
            with SessionArchive(home=terminal.home, cache=tmp_path / "cache") as other:
                aside = path.rename(tmp_path / "aside")
                other.index()
                assert other.sessions() == []
                await terminal.waits(2)
                aside.rename(path)
                other.index()
            terminal.left = None
            terminal.write(2, Rows(2).turn("second", "two"))
            kind, said = await told.next()
            assert (kind, said["title"]) == ("saved_session", "second")

    play(story())


def test_an_index_that_cannot_be_used_is_told_once_and_looked_at_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        terminal = Terminal(tmp_path)
        async with terminal.followed(), terminal.reading() as (told, _):
            terminal.problem = IndexUnusable("the disk is full")
            await terminal.looks(4)
            assert caplog.text.count("the disk is full") == 1
            terminal.problem = None
            terminal.write(1, Rows(1).turn("first", "one"))
            _, said = await told.next()
            assert said["title"] == "first"

    play(story())


def test_the_stream_of_the_server_tells_of_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with (
            web_stage(tmp_path) as web,
            web.client.stream("GET", "/api/v1/stream") as response,
        ):
            told = Events(response)
            names = [each["event"] for each in await told.take(2)]
            assert names == ["sessions", "saved_sessions"]
            save(tmp_path / "home", 1, Rows(1).turn("first", "one").data)
            event = await told.next()
            assert event["event"] == "saved_session"
            listed = await web.get("/api/v1/sessions")
            assert json.loads(event["data"]) == listed["sessions"][0]

    play(story())
