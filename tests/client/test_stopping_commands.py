"""What an interrupt, the end of a session and the end of an agent leave running: nothing, with the real Codex."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.agent import Agent
from dragoman.drive.process.reaping import read_all
from dragoman.drive.process.session_commands import command_line
from dragoman.drive.session import Session
from dragoman.hub.hub import Hub
from dragoman.model.messages import ApprovalRequested, Message, Notice, ToolCall, TurnEnded
from support.agents.stages import SECONDS, Stage

if sys.platform != "linux":
    pytest.skip("processes are looked at in /proc", allow_module_level=True)

MakeStage = Callable[..., Stage]
_FULL: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}
_OTHER = "sleep 98765"


def escaping(number: int, then: str = "wait") -> str:
    """A command in all the ways in which one can run off, each known by its number of seconds."""
    return (
        f"sleep {number}1 & env -i setsid sleep {number}2 & (setsid nohup sleep {number}3"
        f" >/dev/null 2>&1 &) ; (env -i setsid sleep {number}4 >/dev/null 2>&1 &) ; {then}"
    )


def script(number: int, then: str = "wait") -> str:
    return (
        f"turns:\n- when: work\n  steps:\n  - run: '{escaping(number, then)}'\n  - say: done\n"
        f"- when: serve\n  steps:\n  - run: {_OTHER}\n- when: next\n  steps:\n  - say: fine"
    )


def alive(*words: str) -> list[str]:
    """The command lines of living processes that are exactly one of these."""
    return [
        line
        for pid, stat in read_all().items()
        if stat.state not in "ZXx" and (line := command_line(pid)) in words
    ]


def escaped(number: int) -> list[str]:
    return alive(*(f"sleep {number}{each}" for each in "1234"))


async def eventually(holds: Callable[[], object]) -> None:
    while not holds():  # noqa: ASYNC110  processes tell nobody that they are there
        await asyncio.sleep(0.02)


class Reading:
    """A turn that is read beside the story."""

    def __init__(self, session: Session, prompt: str) -> None:
        self.session = session
        self.heard: list[Message] = []
        self._task = asyncio.ensure_future(self._read(prompt))

    async def _read(self, prompt: str) -> None:
        async for message in self.session.run(prompt):
            self.heard.append(message)

    async def runs(self, is_running: Callable[[], object]) -> None:
        """Its command runs, and the agent has said so: before that, Codex itself ends it."""
        await eventually(lambda: is_running() and ToolCall in map(type, self.heard))

    async def ended(self) -> str:
        await self._task
        [end] = [each for each in self.heard if isinstance(each, TurnEnded)]
        return end.outcome


async def begin(agent: Agent, folder: Path, prompt: str) -> Reading:
    return Reading(await agent.start(cwd=folder, **_FULL), prompt)


def test_an_interrupt_stops_the_turns_commands_and_no_others(
    stage: MakeStage, repo: Path, tmp_path: Path
) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage(script(98701)).connect() as codex:
            (elsewhere := tmp_path / "elsewhere").mkdir()
            serving = await begin(codex, elsewhere, "serve")
            await serving.runs(lambda: alive(_OTHER))
            working = await begin(codex, repo, "work")
            session, other = working.session, serving.session
            await working.runs(lambda: len(escaped(98701)) == 4)
            running = session.commands()
            assert {each.command for each in other.commands()} == {_OTHER}
            assert len(running) == 3, running  # and what the shell has started is below it

            stopped = await session.interrupt()
            assert escaped(98701) == []
            assert alive(_OTHER) == [_OTHER], "another session's command goes on"
            assert {each.pid for each in stopped} >= {each.pid for each in running}
            assert await working.ended() == "interrupted"
            said = [m.text for m in working.heard if isinstance(m, Notice)]
            assert any(text.startswith("stopping: ") for text in said), said
            assert session.commands() == []
            assert (await session.run("next")).text == "fine"

            assert [each.command for each in await other.close()] == [_OTHER]
            assert alive(_OTHER) == []

    asyncio.run(story())


def test_commands_are_kept_if_asked_and_can_be_stopped_later(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage(script(98702)).connect() as codex:
            working = await begin(codex, repo, "work")
            await working.runs(lambda: len(escaped(98702)) == 4)
            assert await working.session.interrupt(keep_commands=True) == []
            assert await working.ended() == "interrupted"
            assert len(escaped(98702)) == 4
            assert (await working.session.run("next")).text == "fine"
            assert await working.session.stop_commands()
            assert escaped(98702) == []

    asyncio.run(story())


@pytest.mark.parametrize("then", ["true", "wait"])
def test_ending_a_session_stops_what_it_has_left(stage: MakeStage, repo: Path, then: str) -> None:
    """With ``true`` the command itself is over at once, and all that it started is an orphan."""

    async def story() -> None:
        play = stage(script(98703, then))
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            serving = await begin(codex, repo, "serve")
            await serving.runs(lambda: alive(_OTHER))
            working = await begin(codex, repo, "work")
            if then == "true":
                assert await working.ended() == "completed"
            else:
                await working.runs(lambda: len(escaped(98703)) == 4)
            await working.session.close()
            assert alive(_OTHER)
            # Two sessions in one folder had a tool running: an orphan without a name may be of either.
            assert set(escaped(98703)) <= {"sleep 987032", "sleep 987034"}
        assert escaped(98703) == []
        assert alive(_OTHER) == []

    asyncio.run(story())


def test_an_orphan_without_a_name_ends_with_the_only_session_it_can_be_of(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage(script(98704, "true")).connect() as codex:
            quiet = await codex.start(cwd=repo, **_FULL)
            session = await codex.start(cwd=repo, **_FULL)
            assert (await session.run("work")).outcome == "completed"
            await eventually(lambda: len(escaped(98704)) >= 3)
            assert (await quiet.run("next")).text == "fine"
            await quiet.close()
            assert escaped(98704), "it was not the quiet one's"
            await session.close()
            assert escaped(98704) == []

    asyncio.run(story())


def test_deny_and_stop_stops_the_turns_other_commands(stage: MakeStage, repo: Path) -> None:
    both = "{run: sleep 98707}, {run: {command: touch x, escalate: it must}}"

    async def person(request: ApprovalRequested) -> str:
        await eventually(lambda: alive("sleep 98707"))
        return "cancel"

    async def story() -> None:
        play = stage(f"- together: [{both}]\n- say: done")
        async with asyncio.timeout(SECONDS), play.connect(ask=person) as codex:
            asking: dict[str, Any] = {"sandbox": "workspace-write", "approvals": "on-request"}
            session = await codex.start(cwd=repo, **asking)
            assert (await session.run("work")).outcome == "interrupted"
            await eventually(lambda: not alive("sleep 98707"))

    asyncio.run(story())


def test_nothing_survives_us(stage: MakeStage, repo: Path, tmp_path: Path) -> None:
    """Dragoman is killed with -9 in the middle of a turn."""
    play = stage(script(98705))
    source = f"""
import asyncio, dragoman
async def main():
    async with dragoman.connect("codex", command={play.command!r}, env={play.env!r}) as codex:
        session = await codex.start(cwd={str(repo)!r}, **{_FULL!r})
        await session.run("work")
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", source]) as victim:

        async def watch() -> None:
            async with asyncio.timeout(SECONDS):
                await eventually(lambda: len(escaped(98705)) == 4)
                victim.send_signal(signal.SIGKILL)
                await eventually(lambda: escaped(98705) == [])

        try:
            asyncio.run(watch())
        finally:
            victim.kill()


def test_a_hub_stops_commands_on_every_way(stage: MakeStage, repo: Path, tmp_path: Path) -> None:
    async def story() -> None:
        play = stage(script(98706))
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(asyncio.timeout(SECONDS))
            hub = Hub(tmp_path / "data", connection=play.connection(), roots=[repo])
            await stack.enter_async_context(hub)

            def runs(calls: int) -> bool:
                told = [type(entry.message) for entry in hub.entries(session.id)]
                return len(escaped(98706)) == 4 and told.count(ToolCall) == calls

            session = await hub.start(cwd=repo, prompt="work", **_FULL)
            await eventually(lambda: runs(1))
            assert hub.commands(session.id)
            assert await hub.interrupt(session.id)
            assert escaped(98706) == []
            said = [
                e.message.text for e in hub.entries(session.id) if isinstance(e.message, Notice)
            ]
            assert any(text.startswith("stopped ") for text in said), said

            await hub.run(session.id, "work")
            await eventually(lambda: runs(2))
            await hub.interrupt(session.id, keep_commands=True)
            assert len(escaped(98706)) == 4
            assert await hub.stop_commands(session.id)
            assert escaped(98706) == []

            await hub.run(session.id, "work")
            await eventually(lambda: runs(3))
            assert await hub.stop(session.id)
            assert escaped(98706) == []
            assert hub.commands(session.id) == []

    asyncio.run(story())
