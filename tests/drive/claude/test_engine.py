"""The engine with the real Claude: a process for each session, approvals by policy, restarts."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import dragoman
from dragoman.client.connecting import Connection, connect, open_connection
from dragoman.drive.approvals.policy import Decision
from dragoman.drive.turns.one_shots import OneShotAgent
from dragoman.drive.turns.running import Result, RunningTurn
from dragoman.model.messages import ApprovalRequested, Notice, Prompt, Text, ToolCall, ToolResult
from support.agents.fixtures import ClaudeEnv
from support.agents.live_claude import HELPER_IN_THE_BACKGROUND, claude_below, play

_ENDLESS = "while [ ! -e go ]; do sleep 0.05; done"


def _allow(request: ApprovalRequested) -> Decision:
    if "denied" in request.summary:
        return Decision(word="deny", message="Not in this house.")
    return Decision(word="allow")


def test_two_sessions_at_once_with_a_policy(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- when: first
  steps: [{run: touch made.txt}, {write: {path: w.txt, text: w}}, {say: One.}]
- when: second
  steps: [{run: touch denied.txt}, {say: Two.}]
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with connect("claude", command=claude_program, env=env, policy=_allow) as agent:
            one, two = await agent.start(cwd=repo), await agent.start(cwd=repo)
            assert one.id != two.id
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(_result(turn))
                    for turn in (one.run("first"), two.run("second"))
                ]
            first, second = (task.result() for task in tasks)
            assert (first.outcome, first.text) == ("completed", "One.")
            assert (second.outcome, second.text) == ("completed", "Two.")
            refused = [m for m in second.messages if isinstance(m, ToolResult)]
            assert [m.output for m in refused] == ["Not in this house."]
        assert (repo / "made.txt").exists()
        assert (repo / "w.txt").exists()
        assert not (repo / "denied.txt").exists()

    play(story())


async def _result(turn: RunningTurn) -> Result:
    return await turn


def test_a_killed_process_is_started_again_and_the_session_goes_on(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = f"""\
turns:
- - say: First.
- when: work
  steps: [run: "{_ENDLESS}"]
- when: go on
  steps: [say: Back again.]
"""

    async def story() -> None:
        _, env = claude_env(script)
        restarts = dragoman.Restarts(pauses=(0.01,))
        async with connect(
            "claude", command=claude_program, env=env, policy=_allow, restarts=restarts
        ) as agent:
            session = await agent.start(cwd=repo)
            name = session.id
            await session.run("begin")
            turn = session.run("work")
            async for message in turn:
                if isinstance(message, ToolCall):
                    assert session.worker.pid is not None
                    os.kill(claude_below(session.worker.pid), signal.SIGKILL)
            assert turn.ended is not None
            assert (turn.ended.outcome, turn.ended.error and turn.ended.error.kind) == (
                "failed",
                "port_exit",
            )
            after = await session.run("go on")
            assert (session.id, after.outcome, after.text) == (name, "completed", "Back again.")

    play(story())


def test_interrupt_steer_and_fork(claude_program: str, claude_env: ClaudeEnv, repo: Path) -> None:
    script = f"""\
turns:
- - run: "{_ENDLESS}"
  - say: Steered.
- - run: "while [ ! -e never ]; do sleep 0.05; done"
- - say: The branch.
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with connect("claude", command=claude_program, env=env, policy=_allow) as agent:
            session = await agent.start(cwd=repo, access="full")
            turn = session.run("work")
            prompts: list[str] = []
            async for message in turn:
                if isinstance(message, ToolCall):
                    await session.steer("only a.py")
                    (repo / "go").touch()
                elif isinstance(message, Prompt):
                    prompts.append(message.text)
            assert prompts == ["work", "only a.py"]
            turn = session.run("endless")
            async for message in turn:
                if isinstance(message, ToolCall):
                    await session.interrupt()
            assert turn.ended is not None
            assert turn.ended.outcome == "interrupted"
            branch = await session.fork()
            assert branch.id != session.id
            assert (await branch.run("and there")).text == "The branch."

    play(story())


def test_an_image_is_given_by_its_path(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    picture = repo / "pixel.png"
    picture.write_bytes(bytes.fromhex(_PIXEL))

    async def story() -> None:
        rehearsal, env = claude_env("- say: A pixel.")
        async with connect("claude", command=claude_program, env=env) as agent:
            session = await agent.start(cwd=repo)
            assert (await session.run("what is it?", images=[picture])).outcome == "completed"
        assert "iVBORw0KGgo" in str(rehearsal.requests[-1].body)

    play(story())


_PIXEL = (
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364f8"
    "cf500f00030600018068d5da700000000049454e44ae426082"
)


def test_a_session_that_cannot_be_resumed_is_new_if_that_is_wished(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        _, env = claude_env("- say: New.\n")
        missing = "11111111-2222-4333-8444-555555555555"
        async with connect("claude", command=claude_program, env=env) as agent:
            session = await agent.start(cwd=repo, resume=missing, or_new=True)
            assert session.id != missing
            assert (await session.run("hi")).text == "New."

    play(story())


def test_a_single_prompt_has_a_process_of_its_own(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        _, env = claude_env("turns:\n- - say: One.\n- - say: Two.\n")
        how = Connection(transport="print", command=claude_program, env=env)
        async with open_connection("claude", how) as agent:
            assert isinstance(agent, OneShotAgent)
            session = await agent.start(cwd=repo)
            first = await session.run("first")
            second = await session.run("second")
        assert (first.outcome, first.text) == ("completed", "One.")
        assert (second.outcome, second.text) == ("completed", "Two.")
        assert first.session_id == second.session_id
        said = [m.text for m in second.messages if isinstance(m, Prompt | Text)]
        assert said == ["second", "Two."]
        assert not [m for m in first.messages if isinstance(m, Notice) and m.level == "error"]

    play(story())


def test_a_helper_in_the_background_reports_in_a_turn_that_can_be_read(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        _, env = claude_env(HELPER_IN_THE_BACKGROUND)
        async with connect("claude", command=claude_program, env=env) as agent:
            session = await agent.start(cwd=repo, access="bypassPermissions")
            begun: list[RunningTurn] = []
            session.observe_turns(begun.append)
            asked = await session.run("delegate")
            (repo / "go").touch()
            while not begun:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            report = await begun[0]
            after = await session.run("and now")
        assert asked.outcome == report.outcome == after.outcome == "completed"
        assert report.text == "The helper is done."
        assert len({asked.turn_id, report.turn_id, after.turn_id}) == 3
        assert len(begun) == 1

    play(story())
