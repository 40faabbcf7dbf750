"""Live sessions: what their messages make of them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.errors import (
    TurnFailed,
)
from dragoman.hub.hub import (
    Entry,
    LiveSession,
)
from dragoman.hub.live.state import LiveState
from dragoman.model.messages import SessionStarted
from support.agents.hubs import (
    SECONDS,
    FakeLink,
    Pretence,
    eventually,
    is_end,
    kinds,
    read_until,
    say_delta,
    seqs,
    texts,
)


def test_what_was_being_said_when_a_turn_was_cut_off_is_kept(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).turn_id)
            say_delta(server, server.link, "Half a ")
            say_delta(server, server.link, "sentence")
            await hub.interrupt(session.id)
            told = await read_until(hub.subscribe(session.id), is_end)
            assert texts(told) == ["Half a sentence"]
            assert hub.verify() == []

    asyncio.run(story())


def test_a_session_from_its_prompt_to_its_end(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with("one", "two")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            told = await read_until(hub.subscribe(session.id), is_end)
            assert seqs(told) == [1, 2, 3, 4, 5, 6]
            assert kinds(told) == [
                "session_started", "turn_started", "prompt", "text", "text", "turn_ended",
            ]  # fmt: skip
            stored = hub.entries(session.id)
            assert [each.json for each in stored] == [
                each.json for each in told if isinstance(each, Entry)
            ]
            now = hub.get(session.id)
            assert (now.state, now.last_seq, now.cwd) == ("done", 6, str(pretence.repo))
            assert [one.id for one in hub.sessions()] == [session.id]
            assert hub.verify() == []
            harness = hub.harnesses()[0]
            assert (harness.version, harness.state) == ("0.166.0", "running")

    asyncio.run(story())


def test_a_session_knows_its_release_and_keeps_what_a_later_word_leaves_out() -> None:
    now = datetime(2026, 11, 19, tzinfo=UTC)
    info = LiveSession(id="s", harness="claude", cwd="/", created_at=now, updated_at=now)
    live = LiveState(1, info)
    live.name("s")

    live.add(SessionStarted(harness="claude", session_id="s", version="2.1.327", model="one"), now)
    live.add(SessionStarted(harness="claude", session_id="s", model="two"), now)
    live.add(SessionStarted(harness="claude", session_id="s"), now)

    assert (live.info.version, live.info.model) == ("2.1.327", "two")


def test_an_agent_that_works_for_another_speaks_in_its_session(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).turn_id)
            thread: dict[str, Any] = {"id": "helper", "parentThreadId": session.id, "turns": []}
            link = server.link
            link.say({"method": "thread/started", "params": {"thread": thread}})
            item = {"type": "agentMessage", "id": "m", "text": "I help."}
            params = {"threadId": "helper", "turnId": "h-1", "item": item}
            link.say({"method": "item/completed", "params": params})
            await eventually(lambda: texts(hub.entries(session.id)))
            assert hub.entries(session.id)[-1].message.session_id == "helper"
            assert [one.id for one in hub.sessions()] == [session.id]
            assert hub.get(session.id).state == "working"

    asyncio.run(story())


def test_a_turn_that_cannot_be_begun_is_said_in_the_session(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server

        def refuse(link: FakeLink, line: dict[str, Any]) -> None:
            link.say({"id": line["id"], "error": {"code": -1, "message": "no such model"}})

        server.on["turn/start"] = refuse
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "failed")
            assert "no such model" in (hub.get(session.id).error or "")
            with pytest.raises(TurnFailed):
                await hub.run(session.id, "again")

    asyncio.run(story())
