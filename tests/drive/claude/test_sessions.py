"""Sessions of the real Claude: resumed, forked, with tools, images, another model."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from dragoman.errors import AuthorityMismatch, ResponseError, Unsupported
from dragoman.model import intents
from dragoman.model.messages import Compacted, Notice, SessionStarted, TurnEnded
from support.agents.fixtures import ClaudeEnv
from support.agents.live_claude import live_claude, play

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_session_is_resumed_and_forked(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = "turns:\n- - say: One.\n- - say: Two.\n- - say: Three.\n"

    async def story() -> None:
        rehearsal, env = claude_env(script)
        async with live_claude(claude_program, env, repo) as claude:
            await claude.run("first")
        first = claude.session_id
        async with live_claude(claude_program, env, repo, resume=first) as claude:
            await claude.run("second")
            assert (claude.session_id, claude.facts.resumed) == (first, True)
            assert claude.texts() == ["Two."]
        async with live_claude(claude_program, env, repo, fork=first) as claude:
            await claude.run("third")
            assert claude.session_id != first
            assert claude.facts.parent_session_id == first
        sent = str(rehearsal.requests[-1].body["messages"])
        assert all(word in sent for word in ("first", "One.", "second", "Two.", "third"))

    play(story())


def test_a_session_that_is_gone_is_refused_in_a_sentence(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        _, env = claude_env("- say: Never.\n")
        missing = "11111111-2222-4333-8444-555555555555"
        with pytest.raises(ResponseError, match="No conversation found"):
            async with live_claude(claude_program, env, repo, resume=missing):
                pass

    play(story())


def test_the_model_calls_a_tool_of_ours(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - mcp: {server: dragoman, tool: weather, arguments: {city: Oslo}}
  - mcp: {server: dragoman, tool: weather, arguments: {city: Rome}}
  - say: Done.
"""
    weather = intents.ToolSpec(
        name="weather",
        description="The weather in a city.",
        input_schema={"type": "object", "properties": {"city": {"type": "string"}}},
    )

    async def story() -> None:
        rehearsal, env = claude_env(script)
        async with live_claude(claude_program, env, repo, tools=[weather]) as claude:
            await claude.prompt("weather?")
            call = await claude.until_called()
            assert (call.tool, call.arguments) == ("weather", {"city": "Oslo"})
            answer = intents.AnswerTool(
                session_id=claude.session_id, call_id=call.call_id, output="Rain."
            )
            await claude.ask(answer)
            call = await claude.until_called()
            failed = intents.AnswerTool(
                session_id=claude.session_id,
                call_id=call.call_id,
                output="No such city.",
                success=False,
            )
            await claude.ask(failed)
            ended = await claude.until(TurnEnded)

        assert ended.outcome == "completed"
        assert [(each.output, each.is_error) for each in claude.results()] == [
            ("Rain.", False),
            ("No such city.", True),
        ]
        offered = {tool["name"]: tool for tool in rehearsal.requests[0].body["tools"]}
        assert offered["mcp__dragoman__weather"]["description"] == "The weather in a city."
        assert rehearsal.unscripted == []

    play(story())


def test_an_image_reaches_the_model(claude_program: str, claude_env: ClaudeEnv, repo: Path) -> None:
    async def story() -> None:
        rehearsal, env = claude_env("- say: A pixel.\n")
        async with live_claude(claude_program, env, repo) as claude:
            image = f"data:image/png;base64,{_PIXEL}"
            await claude.run("what is it?", images=[image])
        assert _PIXEL in str(rehearsal.requests[-1].body)
        assert base64.b64decode(_PIXEL)

    play(story())


def test_the_model_and_the_effort_change_between_turns(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        rehearsal, env = claude_env("turns:\n- - say: One.\n- - say: Two.\n")
        async with live_claude(claude_program, env, repo) as claude:
            models = await claude.ask(intents.ListModels())
            await claude.run("first")
            await claude.run("second", model="claude-opus-5-5", effort="low")
        used = [asked.body["model"] for asked in rehearsal.requests]
        assert used[-1] == "claude-opus-5-5" != used[0]
        assert rehearsal.requests[-1].body["output_config"]["effort"] == "low"
        assert models
        begun = [each.model for each in claude.messages if isinstance(each, SessionStarted)]
        assert begun[-1] == "claude-opus-5-5"

    play(story())


def test_the_access_is_confirmed_or_refused(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        _, env = claude_env("- say: Never.\n")
        for access in ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"):
            async with live_claude(claude_program, env, repo, access=access) as claude:
                assert claude.facts.access == access
        forbidden = {"permissions": {"disableBypassPermissionsMode": "disable"}}
        with pytest.raises(AuthorityMismatch, match="bypassPermissions"):
            async with live_claude(
                claude_program, env, repo, access="bypassPermissions", config=forbidden
            ):
                pass

    play(story())


def test_a_session_is_compacted_renamed_and_checked(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    async def story() -> None:
        _, env = claude_env("turns:\n- - say: One.\n- - say: Two.\n")
        async with live_claude(claude_program, env, repo) as claude:
            session_id = claude.session_id
            ended = await claude.run("first")
            check = intents.CheckTurn(session_id=session_id, turn_id=ended.turn_id)
            assert await claude.ask(check) == "completed"
            await claude.ask(intents.Rename(session_id=session_id, name="A name"))
            limits = await claude.ask(intents.ReadRateLimits())
            assert limits.windows == []
            await claude.ask(intents.Compact(session_id=session_id))
            await claude.until(Compacted)
            await claude.until(TurnEnded)
            with pytest.raises(Unsupported):
                await claude.ask(intents.Review(session_id=session_id))
            await claude.ask(intents.CloseSession(session_id=session_id))
            await claude.until_lost()

    play(story())


def test_commands_left_in_the_background_are_stopped(
    claude_program: str, claude_env: ClaudeEnv, repo: Path
) -> None:
    script = """\
turns:
- - tool: {name: Bash, arguments: {command: "sleep 300", run_in_background: true}}
  - say: Started.
"""

    async def story() -> None:
        _, env = claude_env(script)
        async with live_claude(claude_program, env, repo, access="bypassPermissions") as claude:
            await claude.run("start it")
            assert claude.results()[0].status == "completed"
            await claude.ask(intents.StopCommands(session_id=claude.session_id))
            await claude.until(Notice, lambda notice: "sleep 300" in notice.text)

    play(story())
