"""What a hub makes of a lost agent, of a turn that was cut off, and of its own end."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from dragoman.model.messages import TurnEnded
from dragoman.store.live.reading import LiveStoreUnusable
from support.agents.hubs import (
    SECONDS,
    FakeLink,
    Pretence,
    asks,
    eventually,
    is_end,
    kinds,
    read_until,
    texts,
)


def test_a_turn_that_was_given_up_before_it_began_leaves_a_sound_store(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        pretence.interrupt_seconds = 0.05
        has_begun = False

        def interrupt(link: FakeLink, line: dict[str, Any]) -> None:
            if has_begun:
                link.say({"id": line["id"], "result": {}})
                server.end_turn(link, "interrupted")
            else:
                error = {"code": -32600, "message": "no active turn to interrupt"}
                link.say({"id": line["id"], "error": error})

        server.on["turn/interrupt"] = interrupt
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await hub.interrupt(session.id)
            assert hub.get(session.id).state == "idle"
            has_begun = True
            server.begin_turn(server.link)
            before = server.methods().count("turn/interrupt")
            await eventually(lambda: server.methods().count("turn/interrupt") > before)
            server.answers_with("awake")
            await hub.run(session.id, "again")
            await eventually(lambda: hub.get(session.id).state == "done")
            outcomes = [
                each.message.outcome
                for each in hub.entries(session.id)
                if isinstance(each.message, TurnEnded)
            ]
            assert outcomes == ["interrupted", "completed"]
            assert hub.verify() == []

    asyncio.run(story())


def test_an_agent_that_is_lost_ends_the_turn_and_the_session_goes_on(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        asks(server, 7)
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(hub.approvals)
            server.link.die()
            await eventually(lambda: hub.get(session.id).state == "failed")
            assert hub.approvals() == []
            server.answers_with("fine")
            await hub.run(session.id, "again")
            await eventually(lambda: hub.get(session.id).state == "done")
            assert texts(hub.entries(session.id)) == ["fine"]
            assert [one.seq for one in hub.entries(session.id)] == list(
                range(1, hub.get(session.id).last_seq + 1)
            )
            assert hub.verify() == []

    asyncio.run(story())


def test_a_hub_that_is_left_and_opened_again_has_everything(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with("one")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "done")
            before = [each.json for each in hub.entries(session.id)]
            reader, changes = hub.subscribe(session.id, after=4), hub.subscribe_all()
        assert await reader.some() == []
        assert [each.session.id async for each in changes] in ([], [session.id])
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert [each.json for each in hub.entries(session.id)] == before
            assert hub.get(session.id).state == "done"
            await hub.run(session.id, "again")
            await eventually(lambda: len(texts(hub.entries(session.id))) == 2)
            assert (await hub.start(cwd=pretence.repo, resume=session.id)).id == session.id
            assert hub.verify() == []

    asyncio.run(story())


def test_a_turn_that_is_under_way_when_the_hub_is_left_is_interrupted(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).turn_id)
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert hub.get(session.id).state == "idle"
            assert kinds(hub.entries(session.id))[-1] == "turn_ended"

    asyncio.run(story())


def test_without_an_agent_there_is_still_what_was_stored(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with("one")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "done")
        pretence.server.silent.add("initialize")
        pretence.read_seconds = 0.2
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert texts(hub.entries(session.id)) == ["one"]
            harness = hub.harnesses()[0]
            assert harness.problem
            pretence.server.silent.clear()
            await hub.run(session.id, "again")
            await eventually(lambda: len(texts(hub.entries(session.id))) == 2)

    asyncio.run(story())


def test_when_nothing_can_be_stored_nothing_is_told_and_the_turn_is_stopped(
    pretence: Pretence,
) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            reader = hub.subscribe(session.id)
            assert kinds([await anext(reader), await anext(reader)])[-1] == "turn_started"
            with sqlite3.connect(pretence.data / "live.db") as other:
                other.execute("ALTER TABLE journal RENAME TO hidden")
            server.say_text(server.link, "unstored")
            await eventually(lambda: "turn/interrupt" in server.methods())
            with pytest.raises(LiveStoreUnusable):
                await hub.start(cwd=pretence.repo)
            with other:
                other.execute("ALTER TABLE hidden RENAME TO journal")
            other.close()
            told = await read_until(reader, is_end)
            assert texts(told) == ["unstored"]
            assert hub.verify() == []

    asyncio.run(story())
