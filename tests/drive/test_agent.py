import asyncio
from pathlib import Path

import pytest

from dragoman.drive.restarting import Restarts
from dragoman.errors import ProcessExited, ResponseError
from dragoman.model.messages import Message, Notice, Text, TurnEnded
from support.agents.pretending import FakeLink, Json, Server, running_agent

_SECONDS = 60
_QUICK = Restarts(at_most=2, pauses=(0.01, 0.02))


def test_sessions_share_one_process_and_hear_only_their_own(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            server.starts_turns()
            one = await agent.start(cwd=tmp_path)
            link = server.link
            first = link.thread
            two = await agent.start(cwd=tmp_path)
            second = link.thread
            turns = [one.run("1"), two.run("2")]
            link.thread = first
            await turns[0].begin()
            link.thread = second
            await turns[1].begin()
            for thread, turn, text in ((second, "turn-2", "two"), (first, "turn-1", "one")):
                link.thread, link.turn = thread, turn
                server.say_text(link, text)
                server.end_turn(link)
            results = [await turn for turn in turns]
            assert [result.text for result in results] == ["one", "two"]
            assert len(server.links) == 1

    asyncio.run(story())


def test_a_lost_process_fails_its_turn_and_sessions_go_on_on_the_next_one(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        async with asyncio.timeout(_SECONDS), running_agent(server, restarts=_QUICK) as agent:
            session = await agent.start(cwd=tmp_path)
            server.starts_turns(lambda link: link.die())
            result = await session.run("work")
            assert result.outcome == "failed"
            assert result.error is not None
            assert (result.error.kind, result.error.retryable) == ("port_exit", True)
            assert agent.state == "restarting"
            server.answers_with("back")
            result = await session.run("again")
            assert (result.outcome, result.text) == ("completed", "back")
            assert agent.state == "running"
            resumed = [line for line in server.asked if line.get("method") == "thread/resume"]
            assert [line["params"]["threadId"] for line in resumed] == [session.id]

    asyncio.run(story())


def test_an_agent_that_does_not_stay_is_given_up(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        async with asyncio.timeout(_SECONDS), running_agent(server, restarts=_QUICK) as agent:
            session = await agent.start(cwd=tmp_path)
            server.on["initialize"] = lambda link, line: link.die(1)
            server.link.die()
            while agent.state != "failed":  # noqa: ASYNC110  what a caller can see
                await asyncio.sleep(0.01)
            assert len(server.links) == 1 + 2
            with pytest.raises(ProcessExited):
                await session.run("work")

    asyncio.run(story())


def test_what_another_agent_says_for_a_session_is_told_in_it(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()

        def helped(link: FakeLink) -> None:
            own, turn = link.thread, link.turn
            child: Json = {"id": "child", "parentThreadId": own, "turns": []}
            link.say({"method": "thread/started", "params": {"thread": child}})
            link.thread, link.turn = "child", "child-turn"
            server.begin_turn(link)
            server.say_text(link, "from the child")
            server.end_turn(link)
            link.thread, link.turn = own, turn
            server.say_text(link, "from the parent")
            server.end_turn(link)

        server.starts_turns(helped)
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            messages = [message async for message in session.run("work")]
        texts = [(m.session_id, m.text) for m in messages if isinstance(m, Text)]
        assert texts == [("child", "from the child"), (session.id, "from the parent")]
        ended = [m.session_id for m in messages if isinstance(m, TurnEnded)]
        assert ended == ["child", session.id]

    asyncio.run(story())


def test_observers_see_everything_and_what_is_of_no_session_is_kept(tmp_path: Path) -> None:
    async def story() -> None:
        server, seen = Server(), list[Message]()
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            agent.observe(seen.append)
            server.answers_with("hello")
            await (await agent.start(cwd=tmp_path)).run("hi")
            server.link.say({"method": "configWarning", "params": {"summary": "odd setting"}})
            assert [m.text for m in seen if isinstance(m, Text)] == ["hello"]
            assert [m.text for m in agent.notices if isinstance(m, Notice)] == ["odd setting"]

    asyncio.run(story())


def test_a_refused_opening_is_an_error_with_the_servers_words(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()

        def refuse(link: FakeLink, line: Json) -> None:
            link.say({"id": line["id"], "error": {"code": -32600, "message": "no such model"}})

        server.on["thread/start"] = refuse
        async with asyncio.timeout(_SECONDS), running_agent(server) as agent:
            with pytest.raises(ResponseError, match="no such model") as caught:
                await agent.start(cwd=tmp_path, model="nonsense")
            assert caught.value.code == -32600
            assert agent.sessions == []

    asyncio.run(story())
