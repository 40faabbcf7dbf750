from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dragoman.drive.restarting import Restarts
from dragoman.errors import ProcessExited
from dragoman.model.intents import Interrupt, ListModels
from support.agents.pretending import Server, eventually, running_agent

_SECONDS = 60


def test_a_lost_process_is_started_again_and_its_questions_wait(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.answers_with("here")
        restarts = Restarts(at_most=2, pauses=(0.01,))
        async with asyncio.timeout(_SECONDS), running_agent(server, restarts=restarts) as agent:
            session = await agent.start(cwd=tmp_path)
            worker = session.worker
            first = worker.exchange
            await session.run("work")
            server.link.die()
            assert worker.state == "restarting"
            assert (await session.run("more")).text == "here"
            assert worker.state == "running"
            assert worker.exchange is not first
            assert session.worker is worker
            assert worker.sessions == [session]

    asyncio.run(story())


def test_without_restarts_a_lost_process_fails_its_turns_and_questions(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            working = asyncio.ensure_future(turn)
            await eventually(lambda: turn.id)
            server.link.die()
            result = await working
            assert result.outcome == "failed"
            assert result.error is not None
            assert result.error.kind == "port_exit"
            assert session.worker.state == "failed"
            with pytest.raises(ProcessExited):
                await session.worker.ask(ListModels())

    asyncio.run(story())


def test_closing_ends_its_turns_and_refuses_more(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            working = asyncio.ensure_future(turn)
            await eventually(lambda: turn.id)
            worker = session.worker
            await worker.close()
            assert (await working).outcome == "interrupted"
            assert worker.state == "stopped"
            assert worker.pid is None
            worker.submit(Interrupt(session_id=session.id, turn_id="t"))  # dropped
            with pytest.raises(ProcessExited, match="the agent is stopped"):
                await worker.ask(ListModels())

    asyncio.run(story())


def test_a_turn_that_was_given_up_is_interrupted_until_it_ends(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            worker = session.worker
            worker.give_up(session, None)  # the agent does not know that turn
            assert worker.unstopped == []
            worker.give_up(session, "turn-9")
            assert worker.unstopped == [Interrupt(session_id=session.id, turn_id="turn-9")]
            assert agent.unstopped == worker.unstopped
            await eventually(lambda: "turn/interrupt" in server.methods())

    asyncio.run(story())
