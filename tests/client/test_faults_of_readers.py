"""Faults of those who read: they leave, are cancelled, or fail in the middle of a turn."""

from __future__ import annotations

import asyncio
import gc
import threading
import uuid
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from dragoman.client import sync
from dragoman.drive.session import Session
from dragoman.drive.turns.running import Result, RunningTurn
from dragoman.errors import ProcessExited, ProtocolError, TurnInterrupted
from dragoman.model.messages import Prompt, Text, ToolCall
from support.agents.onlookers import marked, wait_until
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]
_FULL: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}
_WORKS = """
turns: [[{run: {command: "until [ -e go ]; do sleep 0.1; done", wait: 60}}]]
otherwise: done
"""
_HANGS = "turns:\n- - run: sleep 1000\n- - say: next"


async def _read_until_it_works(turn: RunningTurn) -> None:
    async for message in turn:
        if isinstance(message, ToolCall):
            return


async def _result(turn: RunningTurn) -> Result:
    return await turn


def test_who_stops_reading_and_asks_again_speaks_to_the_same_turn(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage(_WORKS).connect() as codex:
            session = await codex.start(cwd=repo, **_FULL)
            first = session.run("work")
            await _read_until_it_works(first)
            assert session.running
            second = session.run("and be quick")
            await second.begin()
            (repo / "go").touch()
            again = await second
            assert (again.turn_id, again.outcome) == (first.id, "completed")
            assert [m.text for m in again.messages if isinstance(m, Prompt)] == ["and be quick"]
            assert [m.text for m in again.messages if isinstance(m, Text)] == ["done"]
            rest = await first  # whoever comes back misses nothing
            assert [m.text for m in rest.messages if isinstance(m, Text)] == ["done"]
            assert not session.running

    asyncio.run(story())


def test_a_turn_that_nobody_reads_any_more_is_let_go_when_it_ends(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage(_WORKS).connect() as codex:
            session = await codex.start(cwd=repo, **_FULL)
            await _read_until_it_works(session.run("work"))
            assert session.turn is not None
            kept = weakref.ref(session.turn)
            (repo / "go").touch()
            while kept() is not None:  # within the time that the story may take
                await asyncio.sleep(0.02)
                gc.collect()
            assert not session.running
            assert len(session.late) == 0

    asyncio.run(story())


@pytest.mark.parametrize("mode", ["app-server", "exec"])
def test_a_cancelled_reader_leaves_the_turn_and_an_interrupt_ends_it(
    stage: MakeStage, repo: Path, mode: str
) -> None:
    async def story() -> None:
        play = stage(_HANGS)
        connect: Any = play.connect if mode == "app-server" else play.connect_exec
        async with asyncio.timeout(SECONDS), connect() as codex:
            session = await codex.start(cwd=repo, sandbox="danger-full-access", approvals="never")
            turn = session.run("work")
            await _read_until_it_works(turn)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await turn
            assert session.running
            await session.interrupt()
            assert (await turn).outcome == "interrupted"
            assert not session.running
            assert (await session.run("again")).text == "next"

    asyncio.run(story())


@pytest.mark.parametrize("mode", ["app-server", "exec"])
@pytest.mark.parametrize("problem", [None, KeyError("ours")])
def test_leaving_the_block_ends_the_turn_as_interrupted_and_raises_nothing_else(
    stage: MakeStage, repo: Path, mode: str, problem: Exception | None
) -> None:
    async def story() -> None:
        play, mark = stage(_HANGS), uuid.uuid4().hex
        play.env["MARK"] = mark
        connect: Any = play.connect if mode == "app-server" else play.connect_exec
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as tasks:
            with nullcontext() if problem is None else pytest.raises(KeyError, match="ours"):
                async with connect() as codex:
                    session = await codex.start(cwd=repo, **_FULL)
                    turn = session.run("work")
                    await _read_until_it_works(turn)
                    reader = tasks.create_task(_result(turn))
                    if problem is not None:
                        raise problem
            assert not marked(mark)
            result = await reader  # pyright: ignore[reportPossiblyUnbound]
            assert result.outcome == "interrupted"
            assert isinstance(result.exception(), TurnInterrupted)
            with pytest.raises(ProcessExited, match=r"the agent is (stopped|closed)"):
                await session.run("more")

    asyncio.run(story())


def test_closing_a_session_in_a_turn_interrupts_it(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage(_HANGS).connect() as codex:
            session = await codex.start(cwd=repo, **_FULL)
            turn = session.run("work")
            await _read_until_it_works(turn)
            await session.close()
            assert (await turn).outcome == "interrupted"
            assert codex.sessions == []
            again = await codex.start(cwd=repo, resume=session.id, **_FULL)
            assert (await again.run("again")).text == "next"
            await codex.close()
            await again.close()  # of an agent that is gone: nothing to do

    asyncio.run(story())


def test_agents_of_several_threads_and_loops_do_not_disturb_each_other(
    stage: MakeStage, repo: Path
) -> None:
    # Each has a home of its own: Codex 0.166 may fail when several make the same one at once.
    plays, texts = [stage("otherwise: well") for _ in range(4)], list[str]()

    async def with_a_loop(play: Stage) -> None:
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session: Session = await codex.start(cwd=repo)
            texts.append((await session.run("work")).text)

    def with_a_portal(play: Stage) -> None:
        options: dict[str, Any] = {"command": play.command, "env": play.env}
        texts.append(sync.run("codex", "work", cwd=str(repo), **options).text)

    threads = [threading.Thread(target=asyncio.run, args=(with_a_loop(p),)) for p in plays[:2]]
    threads += [threading.Thread(target=with_a_portal, args=(play,)) for play in plays[2:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert texts == ["well"] * 4


def test_a_closed_portal_says_so_and_closes_only_once(stage: MakeStage, repo: Path) -> None:
    play, mark = stage("otherwise: well"), uuid.uuid4().hex
    env = {**play.env, "MARK": mark}
    with sync.connect("codex", command=play.command, env=env) as codex:
        session = codex.start(cwd=repo)
        codex.close()
        wait_until(lambda: not marked(mark))
        with pytest.raises(ProtocolError, match="the agent is closed"):
            session.run("work")
