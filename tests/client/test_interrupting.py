"""An interrupt is for one turn: what comes of it late never reaches the next, with a real Codex that is busy."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.agent import Agent
from dragoman.drive.process.reaping import read_all
from dragoman.drive.timeouts import Timeouts
from dragoman.errors import ResponseTimeout
from dragoman.model.messages import ToolCall, TurnEnded, TurnStarted
from support.agents.stages import SECONDS, Stage

if sys.platform != "linux":
    pytest.skip("the agent's process is found in /proc", allow_module_level=True)

MakeStage = Callable[..., Stage]
_FULL: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}
_SCRIPT = """
turns:
- when: hang
  steps: [silence: ]
- when: work
  steps: [run: sleep 98791]
- when: next
  steps: [say: fine]
"""


@contextmanager
def busy(agent: Agent) -> Generator[None]:
    """As busy as an agent can be: it does nothing at all."""
    assert agent.exchange is not None
    assert agent.exchange.link is not None
    below = [each for each in read_all().values() if each.parent == agent.exchange.link.pid]
    pid = min(below, key=lambda each: each.start).pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("prompt", ["hang", "work"])
def test_a_late_interrupt_never_reaches_the_next_turn(
    stage: MakeStage, repo: Path, prompt: str
) -> None:
    async def story() -> None:
        play = stage(_SCRIPT)
        limits = Timeouts(interrupt=0.3)
        async with asyncio.timeout(SECONDS), play.connect(timeouts=limits) as codex:
            session = await codex.start(cwd=repo, **_FULL)
            wanted = TurnStarted if prompt == "hang" else ToolCall
            for _ in range(4):
                turn = session.run(prompt)
                async for message in turn:
                    if isinstance(message, wanted):
                        with busy(codex):
                            await session.interrupt()
                            # Its own turn is over for us; the next is asked for while it is busy.
                            following = asyncio.ensure_future(_result(session.run("next")))
                            await asyncio.sleep(0)
                        result = await following
                        assert (result.outcome, result.text) == ("completed", "fine")
                assert turn.ended is not None
                assert turn.ended.outcome == "interrupted"

    asyncio.run(story())


def test_a_turn_that_was_given_up_before_it_was_taken_up_stays_out_of_the_next(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        play = stage(_SCRIPT)
        limits = Timeouts(interrupt=0.3)
        async with asyncio.timeout(SECONDS), play.connect(timeouts=limits) as codex:
            session = await codex.start(cwd=repo, **_FULL)
            for _ in range(3):
                with busy(codex):
                    lost = asyncio.ensure_future(_result(session.run("hang")))
                    while not session.running:  # noqa: ASYNC110  nothing tells of it
                        await asyncio.sleep(0)
                    await session.interrupt()
                    following = asyncio.ensure_future(_result(session.run("next")))
                    await asyncio.sleep(0)
                assert (await lost).outcome == "interrupted"
                result = await following
                assert (result.outcome, result.text) == ("completed", "fine")
                ends = [m.outcome for m in result.messages if isinstance(m, TurnEnded)]
                assert ends == ["completed"]

    asyncio.run(story())


def test_an_agent_that_never_ends_the_turn_is_an_error_and_not_an_interrupted_turn(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        play = stage(_SCRIPT)
        limits = Timeouts(interrupt=0.1, read=30)
        async with asyncio.timeout(SECONDS), play.connect(timeouts=limits) as codex:
            session = await codex.start(cwd=repo, **_FULL)
            async for message in session.run("hang"):
                if isinstance(message, TurnStarted):
                    with busy(codex):
                        await session.interrupt()
                        codex.timeouts = Timeouts(interrupt=0.1, read=0.2)
                        with pytest.raises(ResponseTimeout):
                            await session.run("next")
                        codex.timeouts = limits
            assert (await session.run("next")).text == "fine"

    asyncio.run(story())


async def _result(turn: Any) -> Any:
    return await turn
