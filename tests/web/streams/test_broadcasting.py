from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dragoman.errors import DragomanError
from dragoman.hub.hub import UnknownSession
from dragoman.model.messages import Text
from dragoman.web.settings import Settings
from dragoman.web.streams.broadcasting import Broadcasts
from dragoman.web.streams.channels import Cursor
from support.page.fake_hub import FakeHub
from support.page.web_stage import play


class Late:
    """A reader that has been given something long ago."""

    def __init__(self, since: float | None) -> None:
        self.sending_since = since
        self.given_up = asyncio.Event()

    def is_allowed(self) -> bool:
        return True

    def give_up(self) -> None:
        self.given_up.set()


def test_a_channel_is_shared_and_begins_where_the_store_ends(tmp_path: Path) -> None:
    async def story() -> None:
        hub = FakeHub(tmp_path)
        hub.add("s1")
        hub.tell("s1", Text(text="a"))
        async with (
            Broadcasts(hub, Settings()).open() as broadcasts,
            broadcasts.reading("s1") as first,
            broadcasts.reading("s1") as second,
        ):
            assert first is second
            assert (first.last_seq, first.readers) == (1, 2)
            hub.tell("s1", Text(text="b"))
            cursor = Cursor(first, 1)
            data = await cursor.next()
            assert data is not None
            assert b"id: 2\n" in data

    play(story())


def test_a_session_that_is_not_there_has_no_channel(tmp_path: Path) -> None:
    async def story() -> None:
        async with Broadcasts(FakeHub(tmp_path), Settings()).open() as broadcasts:
            with pytest.raises(UnknownSession):
                async with broadcasts.reading("zz"):
                    pass

    play(story())


def test_only_readers_that_take_nothing_are_given_up(tmp_path: Path) -> None:
    async def story() -> None:
        settings = Settings(heartbeat_seconds=0.02, slow_seconds=0.05)
        async with Broadcasts(FakeHub(tmp_path), settings).open() as broadcasts:
            slow, quick = Late(asyncio.get_running_loop().time()), Late(None)
            async with broadcasts.watched(slow), broadcasts.watched(quick):
                await slow.given_up.wait()
            assert not quick.given_up.is_set()

    play(story())


def test_a_reader_that_cannot_be_given_up_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    class Stuck(Late):
        def give_up(self) -> None:
            super().give_up()
            raise OSError(9, "Bad file descriptor")

    async def story() -> None:
        settings = Settings(heartbeat_seconds=0.02, slow_seconds=0.05)
        hub = FakeHub(tmp_path)
        hub.add("s1")
        async with Broadcasts(hub, settings).open() as broadcasts:
            now = asyncio.get_running_loop().time()
            stuck, slow = Stuck(now), Late(now)
            async with broadcasts.watched(stuck):
                await stuck.given_up.wait()
                async with broadcasts.watched(slow), broadcasts.reading("s1") as channel:
                    await slow.given_up.wait()
                    hub.tell("s1", Text(text="a"))
                    assert await Cursor(channel, 0).next() is not None

    play(story())


def test_after_the_end_nobody_begins_to_read(tmp_path: Path) -> None:
    async def story() -> None:
        hub = FakeHub(tmp_path)
        hub.add("s1")
        async with Broadcasts(hub, Settings()).open() as broadcasts:
            async with broadcasts.reading("s1") as channel:
                broadcasts.hang_up()
                assert await Cursor(channel, 0).next() is None
            with pytest.raises(DragomanError):
                async with broadcasts.reading("s1"):
                    pass

    play(story())


def test_who_is_late_with_the_list_gets_all_of_it_again(tmp_path: Path) -> None:
    async def story() -> None:
        hub = FakeHub(tmp_path)
        session = hub.add("s1")
        async with Broadcasts(hub, Settings()).open() as broadcasts:
            reader = broadcasts.sessions.read()
            assert (await anext(reader)).startswith(b"event: sessions")
            for _ in range(600):
                broadcasts.sessions.tell(session)
            assert (await anext(reader)).startswith(b"event: sessions")
            broadcasts.sessions.tell(session)
            assert (await anext(reader)).startswith(b"event: session\n")
            await reader.aclose()

    play(story())
