"""Interrupting, steering, and processes that are lost, with the real Claude."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from dragoman.errors import ProcessExited
from dragoman.model import intents
from dragoman.model.messages import Prompt, ToolCall, TurnEnded, TurnStarted
from support.agents.fixtures import ClaudeEnv
from support.agents.live_claude import claude_below, live_claude, play

_ENDLESS = "while [ ! -e go ]; do sleep 0.05; done"


def test_an_interrupt_ends_one_turn_and_the_next_prompt_is_fine(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = f"""\
turns:
- - run: "{_ENDLESS}"
  - say: Never said.
- - say: Second.
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo, access="bypassPermissions") as claude:
            turn_id = await claude.prompt("work")
            await claude.until(ToolCall)
            interrupt = intents.Interrupt(session_id=claude.session_id, turn_id=turn_id)
            await claude.ask(interrupt)
            stopped = await claude.until(TurnEnded)
            await claude.ask(
                interrupt
            )  # it is over: nothing to stop, and the next turn is not meant
            after = await claude.run("go on")

        assert (stopped.turn_id, stopped.outcome) == (turn_id, "interrupted")
        assert (after.outcome, claude.texts()) == ("completed", ["Second."])

    play(story())


def test_steering_joins_the_turn_after_the_next_result(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = f"""\
turns:
- - run: "{_ENDLESS}"
  - say: First.
"""

    async def story() -> None:
        rehearsal, env = claude_env(script)
        async with live_claude(claude_program, env, repo, access="bypassPermissions") as claude:
            turn_id = await claude.prompt("work")
            await claude.until(ToolCall)
            steer = intents.Steer(session_id=claude.session_id, turn_id=turn_id, text="only a.py")
            assert await claude.ask(steer) == turn_id
            prompts = [each.text for each in claude.messages if isinstance(each, Prompt)]
            assert prompts == ["work"], "it is pending until it is accepted"
            (repo / "go").touch()
            accepted = await claude.until(Prompt)
            ended = await claude.until(TurnEnded)

        assert (accepted.text, accepted.turn_id) == ("only a.py", turn_id)
        assert (ended.turn_id, ended.outcome) == (turn_id, "completed")
        assert len([each for each in claude.messages if isinstance(each, TurnStarted)]) == 1
        assert "only a.py" in str(rehearsal.requests[-1].body)

    play(story())


def test_what_waits_is_cancelled_with_the_turn(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = f"""\
turns:
- - run: "{_ENDLESS}"
- - say: Second.
"""

    async def story() -> None:
        rehearsal, env = claude_env(script)
        async with live_claude(claude_program, env, repo, access="bypassPermissions") as claude:
            turn_id = await claude.prompt("work")
            await claude.until(ToolCall)
            session_id = claude.session_id
            await claude.ask(intents.Steer(session_id=session_id, turn_id=turn_id, text="late"))
            await claude.ask(intents.Interrupt(session_id=session_id, turn_id=turn_id))
            await claude.until(TurnEnded)
            await claude.run("go on")

        prompts = [each.text for each in claude.messages if isinstance(each, Prompt)]
        assert prompts == ["work", "go on"]
        assert "late" not in [asked.place.prompt for asked in rehearsal.requests]

    play(story())


def test_a_turn_that_we_end_ourselves_stays_ended(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = f"""\
turns:
- - run: "{_ENDLESS}"
  - say: Late.
- - say: Second.
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo, access="bypassPermissions") as claude:
            turn_id = await claude.prompt("work")
            await claude.until(ToolCall)
            claude.exchange.end_turn(claude.session_id, "interrupted", None)
            await claude.until(TurnEnded)
            (repo / "go").touch()
            await claude.ask(intents.AwaitTurnEnd(session_id=claude.session_id, turn_id=turn_id))
            await claude.run("go on")

        own = [each for each in claude.messages if each.session_id == claude.session_id]
        ends = [each.turn_id for each in own if isinstance(each, TurnEnded)]
        starts = [each.turn_id for each in own if isinstance(each, TurnStarted)]
        assert len(ends) == len(starts) == len(set(starts)) == 2
        assert claude.texts() == ["Late.", "Second."]

    play(story())


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_process_that_is_killed_ends_its_turn_once_and_can_be_resumed(
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
        async with live_claude(claude_program, env, repo, access="bypassPermissions") as claude:
            await claude.run("begin")  # Claude writes its file a little later than it speaks
            await claude.prompt("work")
            await claude.until(ToolCall)
            link = claude.exchange.link
            assert link is not None
            assert link.pid is not None
            os.kill(claude_below(link.pid), signal.SIGKILL)
            await claude.until_lost()
            with pytest.raises(ProcessExited):
                await claude.prompt("again")

        ends = [each for each in claude.messages if isinstance(each, TurnEnded)]
        assert [end.outcome for end in ends] == ["completed", "failed"]
        assert ends[1].error is not None
        assert ends[1].error.kind == "port_exit"
        session_id = claude.session_id
        async with live_claude(
            claude_program, env, repo, access="bypassPermissions", resume=session_id
        ) as claude:
            assert claude.session_id == session_id
            assert claude.facts.resumed
            await claude.run("go on")
            assert claude.texts() == ["Back again."]

    play(story())
