"""Turns that an agent starts by itself, on a server that lives in memory and with the toy agent."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import dragoman
from dragoman.drive.session import Session
from dragoman.drive.turns.running import Result, RunningTurn
from dragoman.model.messages import Prompt, Text
from support.agents.pretending import FakeLink, Json, Server, running_agent
from support.toy.installing import Toy

SECONDS = 20


def reported(server: Server, turn_id: str, *texts: str, ends: bool = True) -> None:
    """The agent works without having been asked to."""
    link = server.link
    before, link.turn = link.turn, turn_id
    server.begin_turn(link)
    for text in texts:
        server.say_text(link, text)
    if ends:
        server.end_turn(link)
        link.turn = before


async def first_of(session: Session) -> RunningTurn:
    async with aclosing(session.turns()) as turns:
        return await anext(turns)


def play(story: Any, tmp_path: Path) -> None:
    async def run() -> None:
        server = Server()
        async with asyncio.timeout(SECONDS), running_agent(server) as agent:
            await story(server, await agent.start(cwd=tmp_path))

    asyncio.run(run())


def test_it_is_a_turn_with_its_messages_and_its_end(tmp_path: Path) -> None:
    async def story(server: Server, session: Session) -> None:
        waiting = asyncio.ensure_future(first_of(session))
        await asyncio.sleep(0)
        reported(server, "own-1", "The build is done.")
        result = await (await waiting)
        assert (result.turn_id, result.outcome) == ("own-1", "completed")
        assert result.text == "The build is done."
        assert not session.running
        assert not session.late
        server.answers_with("fine")
        assert (await session.run("next")).text == "fine"

    play(story, tmp_path)


def test_it_is_run_without_a_reader_and_keeps_nothing(tmp_path: Path) -> None:
    async def story(server: Server, session: Session) -> None:
        reported(server, "own-1", "one", ends=False)
        turn = session.turn
        assert turn is not None
        assert turn.id == "own-1"
        server.end_turn(server.link)
        assert not session.running
        assert (await turn).messages == []

    play(story, tmp_path)


def test_it_can_be_interrupted(tmp_path: Path) -> None:
    async def story(server: Server, session: Session) -> None:
        reported(server, "own-1", "one", ends=False)
        await session.interrupt()
        [sent] = [each for each in server.asked if each.get("method") == "turn/interrupt"]
        assert sent["params"]["turnId"] == "own-1"
        assert not session.running

    play(story, tmp_path)


def test_it_is_not_taken_for_the_turn_of_a_prompt_that_is_being_sent(tmp_path: Path) -> None:
    async def story(server: Server, session: Session) -> None:
        def answer(link: FakeLink, line: Json) -> None:
            reported(server, "own-1", "I report.")
            link.say({"id": line["id"], "result": server.result(link, "turn/start", {})})
            server.begin_turn(link)
            server.say_text(link, "I answer.")
            server.end_turn(link)

        server.on["turn/start"] = answer
        waiting = asyncio.ensure_future(first_of(session))
        await asyncio.sleep(0)
        asked: Result = await session.run("go")
        own: Result = await (await waiting)
        assert (own.turn_id, own.text) == ("own-1", "I report.")
        assert asked.text == "I answer."
        assert asked.turn_id != "own-1"
        assert {each.turn_id for each in asked.messages} <= {asked.turn_id, None}

    play(story, tmp_path)


def test_a_prompt_that_is_refused_while_it_begins_takes_nothing_with_it(tmp_path: Path) -> None:
    async def story(server: Server, session: Session) -> None:
        def refuse(link: FakeLink, line: Json) -> None:
            reported(server, "own-1", "I report.")
            link.say({"id": line["id"], "error": {"code": -1, "message": "not now"}})

        server.on["turn/start"] = refuse
        waiting = asyncio.ensure_future(first_of(session))
        await asyncio.sleep(0)
        problem = ""
        try:
            await session.run("go")
        except dragoman.AgentError as error:
            problem = str(error)
        assert "not now" in problem
        assert (await (await waiting)).text == "I report."

    play(story, tmp_path)


def test_the_end_of_the_process_ends_it(tmp_path: Path) -> None:
    async def story(server: Server, session: Session) -> None:
        waiting = asyncio.ensure_future(first_of(session))
        await asyncio.sleep(0)
        reported(server, "own-1", "one", ends=False)
        turn = await waiting
        server.link.die()
        assert (await turn).outcome == "failed"

    play(story, tmp_path)


def test_one_that_an_observer_fails_at_goes_on(tmp_path: Path) -> None:
    async def story(server: Server, session: Session) -> None:
        def fail(turn: RunningTurn) -> None:
            raise ValueError(turn.id)

        session.observe_turns(fail)
        reported(server, "own-1", "one", ends=False)
        assert session.running
        server.end_turn(server.link)
        assert not session.running

    play(story, tmp_path)


def test_a_real_process_reports_later(toy: Toy, tmp_path: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), dragoman.connect("toy") as agent:
            session = await agent.start(cwd=tmp_path)
            waiting = asyncio.ensure_future(first_of(session))
            asked = await session.run("later")
            own = await (await waiting)
            assert asked.text == "You said: later"
            assert (own.turn_id, own.outcome, own.text) == ("1-later", "completed", "It is later.")
            kinds = [type(each) for each in own.messages]
            assert kinds.count(Text) == 1
            assert Prompt not in kinds

    asyncio.run(story())
