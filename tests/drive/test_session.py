import asyncio
from pathlib import Path

import pytest

from dragoman.drive.timeouts import Timeouts
from dragoman.errors import ProtocolError
from dragoman.model.messages import Notice, SessionStarted, Text, TurnEnded
from support.agents.pretending import FakeLink, Json, Server, running_agent

_SECONDS = 60


def _command(link: FakeLink, status: str) -> Json:
    return {
        "type": "commandExecution",
        "id": "call-1",
        "command": "sleep 1000",
        "cwd": "/",
        "status": status,
        "commandActions": [],
    }


def test_the_first_turn_begins_with_how_the_session_began(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.answers_with("hi")
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            messages = [message async for message in session.run("hello")]
            assert isinstance(messages[0], SessionStarted)
            assert messages[0].model == "pretend-1"
            again = [message async for message in session.run("hello")]
            assert not any(isinstance(message, SessionStarted) for message in again)

    asyncio.run(story())


def test_what_comes_late_for_an_earlier_turn_stays_out_of_the_next(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns(
            lambda link: link.note(
                "item/started", turnId=link.turn, item=_command(link, "inProgress")
            )
        )
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("one")
            await turn.begin()
            await session.interrupt()
            first = [message async for message in turn]
            assert isinstance(first[-1], TurnEnded)
            assert first[-1].outcome == "interrupted"

            def late(link: FakeLink) -> None:
                done = _command(link, "completed") | {"exitCode": 0, "aggregatedOutput": "late"}
                link.note("item/completed", turnId="turn-1", item=done)
                server.say_text(link, "two")
                server.end_turn(link)

            server.starts_turns(late)
            second = [message async for message in session.run("two")]
            assert {m.turn_id for m in second} <= {None, "turn-2"}
            assert [m.text for m in second if isinstance(m, Text)] == ["two"]

    asyncio.run(story())


def test_a_command_left_running_is_named_before_the_turn_ends(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns(
            lambda link: link.note(
                "item/started", turnId=link.turn, item=_command(link, "inProgress")
            )
        )
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("one")
            await turn.begin()
            await session.interrupt()
            messages = [message async for message in turn]
            assert isinstance(messages[-2], Notice)
            assert "sleep 1000" in messages[-2].text
            await session.stop_commands()
            assert "thread/backgroundTerminals/clean" in server.methods()

    asyncio.run(story())


def test_an_interrupt_that_is_not_heeded_ends_the_turn_all_the_same(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        server.silent.add("turn/interrupt")
        limits = Timeouts(read=5, interrupt=0.05)
        async with asyncio.timeout(_SECONDS), running_agent(server, timeouts=limits) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            await turn.begin()
            await session.interrupt()
            result = await turn
            assert result.outcome == "interrupted"
            assert not session.running
            server.end_turn(server.link)  # it comes round, too late
            server.answers_with("fine")
            assert (await session.run("next")).text == "fine"

    asyncio.run(story())


def test_a_second_prompt_during_a_turn_is_a_word_to_that_turn(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            first = session.run("one")
            await first.begin()

            def join(link: FakeLink, line: Json) -> None:
                turn: Json = {"id": link.turn, "items": [], "status": "inProgress"}
                link.say({"id": line["id"], "result": {"turn": turn}})
                server.say_text(link, "both")
                server.end_turn(link)

            server.on["turn/start"] = join
            second = await session.run("two")
            assert (second.turn_id, second.text) == ("turn-1", "both")
            assert (await first).text == "both"
            assert not session.running

    asyncio.run(story())


def test_steering_needs_a_turn(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            with pytest.raises(ProtocolError, match="no turn is under way"):
                await session.steer("left")
            turn = session.run("work")
            await turn.begin()
            await session.steer("left")
            sent = [line for line in server.asked if line.get("method") == "turn/steer"]
            assert sent[0]["params"]["expectedTurnId"] == "turn-1"
            assert sent[0]["params"]["input"][0]["text"] == "left"

    asyncio.run(story())


def test_a_fork_is_a_session_of_its_own(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            fork = await session.fork()
            assert fork.id != session.id
            assert agent.sessions == [session, fork]
            await session.close()
            assert agent.sessions == [fork]
            assert "thread/unsubscribe" in server.methods()

    asyncio.run(story())
