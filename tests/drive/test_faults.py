"""Faults that only a server in memory can be made to have, at the moment they are wanted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.restarting import Restarts
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.turns.running import Result, RunningTurn
from dragoman.errors import TurnInterrupted
from dragoman.model.messages import ApprovalRequested, ApprovalSettled, Message, Text
from support.agents.pretending import FakeLink, Json, Server, eventually, running_agent

SECONDS = 60


def test_a_request_that_we_do_not_know_is_refused_so_that_nobody_waits(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns(
            lambda link: link.say({"id": 77, "method": "item/future/request", "params": {"a": 1}})
        )

        async with asyncio.timeout(SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            await turn.begin()
            await eventually(lambda: _with_id(server, 77))
            assert _with_id(server, 77)[0]["error"]["code"] == -32601
            server.end_turn(server.link)
            assert (await turn).outcome == "completed"

    asyncio.run(story())


def test_an_interrupt_of_a_turn_that_is_not_even_acknowledged_is_bounded(tmp_path: Path) -> None:
    async def story() -> None:
        server, waiting = Server(), list[tuple[FakeLink, Any]]()
        server.on["turn/start"] = lambda link, line: waiting.append((link, line))
        limits = Timeouts(read=5, interrupt=0.1)
        async with (
            asyncio.timeout(SECONDS),
            running_agent(server, timeouts=limits) as agent,
            asyncio.TaskGroup() as tasks,
        ):
            session = await agent.start(cwd=tmp_path)
            reader = tasks.create_task(_result(session.run("work")))
            await eventually(lambda: waiting)
            await session.interrupt()
            assert (await reader).outcome == "interrupted"
            [(link, line)] = waiting
            answer = server.result(link, "turn/start", line["params"])
            link.say({"id": line["id"], "result": answer})  # it takes it up, after all
            await eventually(lambda: "turn/interrupt" in server.methods())
            server.answers_with("fine")
            assert (await session.run("next")).text == "fine"

    asyncio.run(story())


def _with_id(server: Server, number: int) -> list[Json]:
    return [line for line in server.asked if line.get("id") == number and "error" in line]


async def _result(turn: RunningTurn) -> Result:
    return await turn


def test_two_hundred_questions_at_once_are_each_answered_once(tmp_path: Path) -> None:
    count = 200

    async def policy(request: ApprovalRequested) -> str:
        await asyncio.sleep(0.01)
        return "allow" if request.detail["command"].endswith("0") else "deny"

    async def story() -> None:
        server = Server()

        def ask(link: FakeLink) -> None:
            for number in range(count):
                params = {
                    "threadId": link.thread,
                    "turnId": link.turn,
                    "itemId": f"call-{number}",
                    "command": f"touch {number}",
                    "cwd": "/",
                }
                method = "item/commandExecution/requestApproval"
                link.say({"id": number, "method": method, "params": params})

        server.starts_turns(ask)
        async with asyncio.timeout(SECONDS), running_agent(server, policy=policy) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            await turn.begin()
            await eventually(lambda: len(_answers(server)) == count)
            server.end_turn(server.link)
            result = await turn
        answers = _answers(server)
        assert sorted(answer["id"] for answer in answers) == list(range(count))
        allowed = [a["id"] for a in answers if a["result"]["decision"] == "accept"]
        assert sorted(allowed) == list(range(0, count, 10))
        settled = [m for m in result.messages if isinstance(m, ApprovalSettled)]
        assert len(settled) == count

    asyncio.run(story())


def _answers(server: Server) -> list[dict[str, Any]]:
    return [line for line in server.asked if "method" not in line and "result" in line]


def test_a_prompt_that_crosses_the_end_of_a_turn_is_a_turn_of_its_own(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server()
        server.starts_turns()
        async with asyncio.timeout(SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            first = session.run("one")
            await first.begin()

            def cross(link: FakeLink, line: Json) -> None:
                server.say_text(link, "of the first")
                server.end_turn(link)
                result = server.result(link, "turn/start", line["params"])
                link.say({"id": line["id"], "result": result})
                server.begin_turn(link)
                server.say_text(link, "of the second")
                server.end_turn(link)

            server.on["turn/start"] = cross
            second = await session.run("two")
            assert (second.turn_id, second.text) == ("turn-2", "of the second")
            assert [m.text for m in second.messages if isinstance(m, Text)] == ["of the second"]
            assert (await first).text == "of the first"
            assert "turn/interrupt" not in server.methods()

    asyncio.run(story())


def test_a_turn_that_is_given_up_before_it_was_asked_for_is_never_asked_for(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        server = Server()
        server.answers_with("here")
        restarts = Restarts(at_most=2, pauses=(0.2,))
        async with asyncio.timeout(SECONDS), running_agent(server, restarts=restarts) as agent:
            session = await agent.start(cwd=tmp_path)
            server.link.die()
            assert agent.state == "restarting"
            turn = session.run("never mind")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await turn
            await eventually(lambda: agent.state == "running")
            with pytest.raises(TurnInterrupted, match="given up before it began"):
                await turn
            assert "turn/start" not in server.methods()
            assert not session.running
            assert (await session.run("now")).text == "here"

    asyncio.run(story())


def test_a_cancelled_beginning_is_still_a_turn_that_is_watched_and_read(tmp_path: Path) -> None:
    async def story() -> None:
        server, waiting = Server(), list[tuple[FakeLink, Json]]()
        server.on["turn/start"] = lambda link, line: waiting.append((link, line))
        async with asyncio.timeout(SECONDS), running_agent(server) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await turn
            assert session.running
            [(link, line)] = waiting
            result = server.result(link, "turn/start", line["params"])
            link.say({"id": line["id"], "result": result})
            server.begin_turn(link)
            server.say_text(link, "all the same")
            server.end_turn(link)
            assert (await turn).text == "all the same"

    asyncio.run(story())


def test_an_observer_that_fails_costs_nobody_a_message(tmp_path: Path) -> None:
    def broken(message: Message) -> None:
        raise ZeroDivisionError

    async def story() -> None:
        server = Server()
        server.answers_with("here")
        async with asyncio.timeout(SECONDS), running_agent(server) as agent:
            agent.observe(broken)
            session = await agent.start(cwd=tmp_path)
            assert (await session.run("work")).text == "here"

    asyncio.run(story())
