import asyncio
from pathlib import Path

from dragoman.drive.timeouts import Timeouts
from support.agents.pretending import FakeLink, Json, Server, running_agent

_SECONDS = 60


def test_a_silent_turn_is_given_up_with_the_reason(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        limits = Timeouts(read=5, stall=0.2)
        async with asyncio.timeout(_SECONDS), running_agent(server, timeouts=limits) as agent:
            session = await agent.start(cwd=tmp_path)
            result = await session.run("work")
            assert result.outcome == "failed"
            assert result.error is not None
            assert (result.error.kind, result.error.native) == ("stall_timeout", "model")
            server.answers_with("awake")
            assert (await session.run("again")).text == "awake"
            assert "turn/interrupt" in server.methods()

    asyncio.run(story())


def test_an_end_that_got_lost_is_found_by_asking(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns(lambda link: server.say_text(link, "all done"))

        def read(link: FakeLink, line: Json) -> None:
            turns: list[Json] = [{"id": link.turn, "items": [], "status": "completed"}]
            thread: Json = {"id": link.thread, "status": {"type": "idle"}, "turns": turns}
            link.say({"id": line["id"], "result": {"thread": thread}})

        server.on["thread/read"] = read
        limits = Timeouts(read=5, check_after=0.2)
        async with asyncio.timeout(_SECONDS), running_agent(server, timeouts=limits) as agent:
            session = await agent.start(cwd=tmp_path)
            result = await session.run("work")
            assert (result.outcome, result.text) == ("completed", "all done")

    asyncio.run(story())


def test_a_turn_that_still_runs_there_is_left_alone(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        asked = asyncio.Event()

        def read(link: FakeLink, line: Json) -> None:
            turns: list[Json] = [{"id": link.turn, "items": [], "status": "inProgress"}]
            thread: Json = {"id": link.thread, "status": {"type": "active"}, "turns": turns}
            link.say({"id": line["id"], "result": {"thread": thread}})
            asked.set()

        server.on["thread/read"] = read
        limits = Timeouts(read=5, check_after=0.1)
        async with asyncio.timeout(_SECONDS), running_agent(server, timeouts=limits) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            await turn.begin()
            await asked.wait()
            assert session.running
            server.end_turn(server.link)
            assert (await turn).outcome == "completed"

    asyncio.run(story())


def test_a_server_that_answers_nothing_is_named_as_the_reason(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        server.silent.add("thread/read")
        limits = Timeouts(read=0.3, check_after=0.1, stall=2)
        async with asyncio.timeout(_SECONDS), running_agent(server, timeouts=limits) as agent:
            session = await agent.start(cwd=tmp_path)
            result = await session.run("work")
            assert result.error is not None
            assert result.error.native == "transport"

    asyncio.run(story())
