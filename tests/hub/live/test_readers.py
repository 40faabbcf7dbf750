"""Readers of a live session: a cursor each, gaps, and entries encoded once."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from typing import Any

from dragoman.hub.hub import (
    Entry,
    Hub,
    Transient,
)
from dragoman.model.messages import Delta
from dragoman.web.settings import Settings
from dragoman.web.streams.broadcasting import Broadcasts
from dragoman.web.streams.channels import Cursor
from support.agents.hubs import (
    SECONDS,
    Pretence,
    eventually,
    is_end,
    kinds,
    read_until,
    say_delta,
    seqs,
)


def test_a_reader_comes_back_with_its_cursor(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with(*(f"t{n}" for n in range(400)))
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            first = hub.subscribe(session.id)
            told = [await anext(first) for _ in range(17)]
            first.close()
            again = await read_until(hub.subscribe(session.id, after=seqs(told)[-1]), is_end)
            assert seqs(told + again) == list(range(1, 405))
            assert len(hub.entries(session.id, after=100, limit=50)) == 50
            assert [one.seq for one in hub.before(session.id, seq=50, limit=3)] == [47, 48, 49]

    asyncio.run(story())


def test_deltas_pass_in_their_place_and_are_not_stored(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo)
            reader = hub.subscribe(session.id)
            told = [await anext(reader)]  # now it is not behind any more
            await hub.run(session.id, "go")
            say_delta(server, server.link, "He", "msg-Hello")
            say_delta(server, server.link, "llo", "msg-Hello")
            server.say_text(server.link, "Hello")
            server.end_turn(server.link)
            told += await read_until(reader, is_end)
            pieces = [one.message for one in told if isinstance(one, Transient)]
            assert [one.text for one in pieces if isinstance(one, Delta)] == ["He", "llo"]
            assert [type(one).__name__ for one in told] == [
                "Entry", "Entry", "Entry", "Transient", "Transient", "Entry", "Entry",
            ]  # fmt: skip
            assert kinds(told) == [
                "session_started",
                "turn_started",
                "prompt",
                "text",
                "turn_ended",
            ]
            assert "delta" not in kinds(hub.entries(session.id))

    asyncio.run(story())


def test_a_slow_reader_gets_a_gap_and_loses_no_entry(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            quick, slow = hub.subscribe(session.id), hub.subscribe(session.id)
            first = [await anext(slow), await anext(slow)]

            async def quickly() -> list[Any]:
                return await read_until(quick, is_end)

            async with asyncio.TaskGroup() as tasks:
                reading = tasks.create_task(quickly())
                for number in range(600):
                    say_delta(server, server.link, "x", f"msg-{number}")
                    server.say_text(server.link, str(number))
                    await asyncio.sleep(0)
                server.end_turn(server.link)
            rest = await read_until(slow, is_end)
            assert seqs(reading.result()) == list(range(1, 605))
            assert seqs(first + rest) == list(range(1, 605))
            assert kinds(rest)[0] == "gap"
            assert slow.gaps

    asyncio.run(story())


def _is_done(hub: Hub, session_id: str, after: int) -> bool:
    now = hub.get(session_id)
    return now.state == "done" and now.last_seq > after


def test_the_stream_of_a_session_goes_by_its_own_numbers(pretence: Pretence) -> None:
    """Not by those of a session that was begun later, and lies behind it in the store."""

    async def story() -> None:
        pretence.server.answers_with("one", "two")
        async with (
            asyncio.timeout(SECONDS),
            pretence.hub() as hub,
            Broadcasts(hub, Settings()).open() as broadcasts,
        ):
            first = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(first.id).state == "done")
            second = await hub.start(cwd=pretence.repo)
            for session_id in (first.id, second.id):
                last = hub.get(session_id).last_seq
                async with broadcasts.reading(session_id) as channel:
                    assert channel.last_seq == last
                    cursor, seqs_told = Cursor(channel, 0), list[int]()
                    pretence.server.link.thread = session_id
                    await hub.run(session_id, "on")
                    await eventually(lambda of=session_id, was=last: _is_done(hub, of, was))
                    while len(seqs_told) < hub.get(session_id).last_seq:
                        data = await cursor.next()
                        assert data is not None
                        seqs_told += [int(each) for each in re.findall(rb"^id: (\d+)$", data, re.M)]
                    assert seqs_told == list(range(1, len(seqs_told) + 1))
                    assert len(seqs_told) > last

    asyncio.run(story())


def test_two_readers_share_what_is_encoded(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).last_seq == 2)
            one, two = hub.subscribe(session.id, after=2), hub.subscribe(session.id, after=2)
            async with asyncio.TaskGroup() as tasks:
                tasks_of = [tasks.create_task(read_until(each, is_end)) for each in (one, two)]
                await asyncio.sleep(0.01)
                server.say_text(server.link, "same")
                server.end_turn(server.link)
            left, right = (task.result() for task in tasks_of)
            assert [id(each) for each in left] == [id(each) for each in right]

    asyncio.run(story())


def test_an_entry_is_in_the_store_before_anybody_is_told(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with(*(f"t{n}" for n in range(100)))
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo)
            reader = hub.subscribe(session.id)
            await hub.run(session.id, "go")
            with sqlite3.connect(pretence.data / "live.db") as other:
                async for told in reader:
                    assert isinstance(told, Entry)
                    [(last,)] = other.execute("SELECT max(entry_id) & 4294967295 FROM entries")
                    [(line,)] = other.execute("SELECT max(line_id) & 4294967295 FROM journal")
                    assert last >= told.seq
                    assert line >= told.message.line
                    if is_end(told.message):
                        break
            other.close()

    asyncio.run(story())
