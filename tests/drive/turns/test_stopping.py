"""An agent that refuses to stop a turn, because it has not begun it yet, is asked again."""

import asyncio
from pathlib import Path

import pytest

from dragoman.drive.agent import Agent
from dragoman.drive.session import Session
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.turns.running import RunningTurn
from support.agents.pretending import FakeLink, Json, Server, eventually, running_agent

_SECONDS = 60


class Slow(Server):
    """Takes a turn up, and begins it when it is told to; before that there is nothing to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun = False
        self.refused = 0
        self.on["turn/interrupt"] = self._interrupt

    def go(self) -> None:
        self.has_begun = True
        self.begin_turn(self.link)

    def _interrupt(self, link: FakeLink, line: Json) -> None:
        if not self.has_begun:
            self.refused += 1
            error = {"code": -32600, "message": "no active turn to interrupt"}
            link.say({"id": line["id"], "error": error})
            return
        link.say({"id": line["id"], "result": {}})
        self.end_turn(link, "interrupted")


async def _asked(agent: Agent, folder: Path) -> tuple[Session, RunningTurn]:
    session = await agent.start(cwd=folder)
    turn = session.run("work")
    await turn.begin()
    return session, turn


def test_a_turn_that_has_not_begun_is_stopped_as_soon_as_it_has(tmp_path: Path) -> None:
    async def story() -> None:
        server = Slow()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session, turn = await _asked(agent, tmp_path)
            async with asyncio.TaskGroup() as group:
                stopping = group.create_task(session.interrupt())
                await eventually(lambda: server.refused >= 3)
                assert not stopping.done()
                server.go()
            result = await turn
            assert (result.outcome, result.turn_id) == ("interrupted", "turn-1")
            assert server.methods().count("turn/interrupt") == server.refused + 1
            server.answers_with("awake")
            assert (await session.run("again")).text == "awake"

    asyncio.run(story())


def test_a_turn_that_we_gave_up_is_stopped_when_it_begins_after_all(tmp_path: Path) -> None:
    async def story() -> None:
        server = Slow()
        limits = Timeouts(read=5, interrupt=0.05)
        async with asyncio.timeout(_SECONDS), running_agent(server, timeouts=limits) as agent:
            session, turn = await _asked(agent, tmp_path)
            await session.interrupt()
            assert (await turn).outcome == "interrupted"
            refused = server.refused
            await eventually(lambda: server.refused > refused + 1)
            server.go()
            await eventually(lambda: not session.running and not agent.unstopped)
            server.answers_with("awake")
            assert (await session.run("again")).text == "awake"

    asyncio.run(story())


def test_who_interrupts_right_after_asking_means_that_turn(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            async with asyncio.TaskGroup() as group:
                group.create_task(turn.begin())
                await asyncio.sleep(0)  # it has been asked for, and nothing has been said
                group.create_task(session.interrupt())
                assert (await turn).outcome == "interrupted"

    asyncio.run(story())


def test_an_agent_that_never_stops_is_left_to_it_in_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        server = Slow()
        limits = Timeouts(read=0.6, interrupt=0.05)
        async with asyncio.timeout(_SECONDS), running_agent(server, timeouts=limits) as agent:
            session, turn = await _asked(agent, tmp_path)
            await session.interrupt()
            assert (await turn).outcome == "interrupted"
            await eventually(lambda: "turn turn-1 may go on, unheard" in caplog.text)
            assert server.refused > 3

    asyncio.run(story())


def test_a_turn_that_has_no_name_when_it_is_stopped_is_stopped_by_the_name_it_gets(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        server = Slow()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.compact()
            await turn.begin()
            assert turn.id is None
            async with asyncio.TaskGroup() as group:
                group.create_task(session.interrupt())
                await eventually(lambda: server.refused)
                server.link.turn = "turn-c"
                server.go()
            assert (await turn).outcome == "interrupted"
            last = [line for line in server.asked if line.get("method") == "turn/interrupt"][-1]
            assert last["params"]["turnId"] == "turn-c"

    asyncio.run(story())
