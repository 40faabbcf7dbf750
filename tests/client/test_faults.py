"""Faults of the agent, with the real program: it ends with the right error, or the work goes on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.agent import Agent
from dragoman.drive.restarting import Restarts
from dragoman.drive.session import Session
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.tools.toolbox import tool
from dragoman.drive.turns.running import Result, RunningTurn
from dragoman.errors import ProcessExited, Stalled, TurnTimeout
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Notice,
    ToolCall,
    ToolResult,
    TurnEnded,
)
from support.agents.onlookers import is_alive, marked, wait_until
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]
_FULL: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}
_ASKING: dict[str, Any] = {"sandbox": "read-only", "approvals": "on-request"}
_ASKS = "- run: {command: touch outside, escalate: I need it}\n- say: After the question."
_QUICK = Restarts(pauses=(0.05,))


def _pid(agent: Agent) -> int:
    assert agent.exchange is not None
    assert agent.exchange.link is not None
    assert agent.exchange.link.pid is not None
    return agent.exchange.link.pid


async def aged(turn: RunningTurn, holds: Callable[[], object]) -> Result:
    """The result of a turn for which, once this holds, hours go by: no machine is too slow for that."""

    async def let_time_pass() -> None:
        while turn.ended is None:
            if holds():
                turn.pulse.began_at -= 3600
                turn.pulse.heard_at -= 3600
            await asyncio.sleep(0.05)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(let_time_pass())
        return await turn


def test_an_agent_killed_in_a_turn_fails_it_and_all_its_sessions_go_on(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        play = stage("turns: [{when: one, steps: [{run: setsid sleep 1000.25}]}]\notherwise: here")
        async with asyncio.timeout(SECONDS), play.connect(restarts=_QUICK) as codex:
            sessions = [await codex.start(cwd=repo, **_FULL) for _ in range(3)]
            working, done, idle = sessions
            assert (await done.run("two")).text == "here"
            outcomes: list[TurnEnded] = []
            turn = working.run("one")
            async for message in turn:
                if isinstance(message, ToolCall):
                    os.kill(_pid(codex), signal.SIGKILL)
                if isinstance(message, TurnEnded):
                    outcomes.append(message)
            assert [message.outcome for message in outcomes] == ["failed"]
            result = turn.result([])
            assert result.exit_code == -signal.SIGKILL
            with pytest.raises(ProcessExited) as caught:
                result.check()
            assert (caught.value.kind, caught.value.retryable) == ("port_exit", True)
            await asyncio.to_thread(wait_until, lambda: not marked("1000.25"))
            texts = [(await session.run("again")).text for session in sessions]
            assert texts == ["here"] * 3
            assert codex.state == "running"
            assert (working.facts.resumed, done.facts.resumed) == (True, True)
            assert not idle.facts.resumed  # nothing was ever said in it: it is begun anew

    asyncio.run(story())


def test_an_agent_killed_while_it_waits_for_an_answer_withdraws_the_question(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        asked = asyncio.Event()
        withdrawn = asyncio.Event()

        async def person(request: ApprovalRequested) -> str:
            asked.set()
            try:
                await asyncio.sleep(SECONDS)
            finally:
                withdrawn.set()
            return "allow"

        play = stage(_ASKS)
        async with (
            asyncio.timeout(SECONDS),
            play.connect(ask=person, restarts=_QUICK) as codex,
            asyncio.TaskGroup() as tasks,
        ):
            session = await codex.start(cwd=repo, **_ASKING)
            turn = tasks.create_task(_result_of(session))
            await asked.wait()
            os.kill(_pid(codex), signal.SIGKILL)
            await withdrawn.wait()
            assert (await turn).error.kind == "port_exit"
            assert not (repo / "outside").exists()

    asyncio.run(story())


async def _result_of(session: Session) -> Any:
    return await session.run("work")


def test_a_model_that_falls_silent_is_a_stall_and_the_next_turn_works(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        play = stage("turns:\n- - silence:\n- - say: fine")
        limits = Timeouts(turn=None, stall=600)
        async with asyncio.timeout(SECONDS), play.connect(timeouts=limits) as codex:
            session = await codex.start(cwd=repo)
            result = await aged(session.run("work"), lambda: play.rehearsal.requests)
            with pytest.raises(Stalled, match="waiting for the model") as caught:
                result.check()
            assert caught.value.reason == "model"
            assert (await session.run("again")).text == "fine"

    asyncio.run(story())


def test_a_command_that_hangs_is_named_with_its_process(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("turns:\n- - run: echo so far; sleep 1000\n- - say: fine")
        limits = Timeouts(turn=None, stall=600, tools_may_stall=False)
        async with asyncio.timeout(SECONDS), play.connect(timeouts=limits) as codex:
            session = await codex.start(cwd=repo, **_FULL)
            turn = session.run("work")
            result = await aged(turn, lambda: turn.fresh_pulse(gone=False).tools)
            with pytest.raises(Stalled, match=r"sleep 1000' \(pid \d+") as caught:
                result.check()
            assert caught.value.reason == "tool"
            assert (await session.run("again")).text == "fine"

    asyncio.run(story())


def test_a_question_that_nobody_answers_is_bounded_by_the_turn(
    stage: MakeStage, repo: Path
) -> None:
    asked: list[ApprovalRequested] = []

    async def nobody(request: ApprovalRequested) -> str:
        asked.append(request)
        await asyncio.sleep(SECONDS)
        return "allow"

    async def story() -> None:
        limits = Timeouts(turn=1200, stall=600)
        how = {"ask": nobody, "ask_seconds": None, "timeouts": limits}
        async with asyncio.timeout(SECONDS), stage(_ASKS).connect(**how) as codex:
            session = await codex.start(cwd=repo, **_ASKING)
            result = await aged(session.run("try"), lambda: asked)
        with pytest.raises(TurnTimeout, match="waiting for a person to answer a question"):
            result.check()
        assert not (repo / "outside").exists()

    asyncio.run(story())


def test_a_policy_that_raises_denies_and_says_so(stage: MakeStage, repo: Path) -> None:
    def broken(request: ApprovalRequested) -> str:
        raise ZeroDivisionError("one by none")

    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage(_ASKS).connect(policy=broken) as codex:
            session = await codex.start(cwd=repo, **_ASKING)
            result = await session.run("try")
        settled = [m.decision for m in result.messages if isinstance(m, ApprovalSettled)]
        notices = [m.text for m in result.messages if isinstance(m, Notice)]
        assert (result.outcome, settled) == ("completed", ["deny"])
        assert any("ZeroDivisionError: one by none" in text for text in notices)
        assert not (repo / "outside").exists()

    asyncio.run(story())


def test_a_tool_of_ours_that_hangs_is_answered_for(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        @tool(timeout_seconds=0.5)
        async def lookup(number: str) -> str:
            """Look a ticket up."""
            await asyncio.sleep(SECONDS)
            return number

        play = stage("- tool: {name: lookup, arguments: {number: T-7}}\n- say: Without it, then.")
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session = await codex.start(cwd=repo, approvals="never", tools=[lookup])
            result = await session.run("What is T-7?")
        [told] = [m for m in result.messages if isinstance(m, ToolResult)]
        assert told.is_error
        assert result.text == "Without it, then."

    asyncio.run(story())


@pytest.mark.parametrize("mode", ["app-server", "exec"])
def test_a_journal_on_a_full_disk_is_one_notice_and_the_run_goes_on(
    stage: MakeStage, repo: Path, mode: str
) -> None:
    async def story() -> None:
        play = stage("- say: Done.")
        connect: Any = play.connect if mode == "app-server" else play.connect_exec
        async with asyncio.timeout(SECONDS), connect(journal="/dev/full") as codex:
            session = await codex.start(cwd=repo)
            result = await session.run("work")
            notices = [m for m in [*codex.notices, *result.messages] if isinstance(m, Notice)]
        assert result.text == "Done."
        assert [m.text for m in notices if "journal" in m.text] == [
            "the journal /dev/full is given up: no space left on device; continuing without it"
        ]

    asyncio.run(story())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_process_of_one_prompt_that_is_killed_fails_its_turn(
    stage: MakeStage, repo: Path, number: signal.Signals
) -> None:
    async def story() -> None:
        play, pids = stage("turns:\n- - run: sleep 1000.5\n- - say: fine"), list[int]()
        async with asyncio.timeout(SECONDS), play.connect_exec() as codex:
            session = await codex.start(cwd=repo, sandbox="danger-full-access")
            turn = session.run("work")
            async for message in turn:
                if isinstance(message, ToolCall):
                    [shot] = codex.running
                    assert shot.pid is not None
                    pids.append(shot.pid)
                    os.kill(shot.pid, number)
            result = turn.result([])
            assert result.outcome == "failed"
            with pytest.raises(ProcessExited) as caught:
                result.check()
            assert caught.value.retryable
            assert not any(map(is_alive, pids))
            wait_until(lambda: not marked("1000.5"))
            assert (await session.run("again")).text == "fine"

    asyncio.run(story())
