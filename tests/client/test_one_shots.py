from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import Unsupported, UsageError
from dragoman.model.messages import Message, Prompt, SessionStarted, Text, ToolCall, TurnEnded
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]
_FULL: dict[str, Any] = {"sandbox": "danger-full-access"}


def test_a_task_and_its_follow_up_are_one_session(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("turns:\n- - run: cat README.md\n  - say: first\n- - say: second")
        async with asyncio.timeout(SECONDS), play.connect_exec() as codex:
            session = await codex.start(cwd=repo, **_FULL)
            assert session.id == ""
            told: list[Message] = [message async for message in session.run("one")]
            assert isinstance(told[0], SessionStarted)
            assert session.id == told[0].session_id
            assert [m.text for m in told if isinstance(m, Prompt)] == ["one"]
            assert [m.text for m in told if isinstance(m, Text)] == ["first"]
            assert isinstance(told[-1], TurnEnded)
            assert told[-1].outcome == "completed"
            first = session.id
            again = await session.run("two")
            assert (again.text, session.id, again.session_id) == ("second", first, first)
            play.assert_like_disk(first, [*told, *again.messages], "codex-exec")

    asyncio.run(story())


def test_a_fork_and_an_ephemeral_session(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("otherwise: indeed")
        async with asyncio.timeout(SECONDS), play.connect_exec() as codex:
            session = await codex.start(cwd=repo)
            await session.run("one")
            fork = await session.fork()
            assert (await fork.run("two")).text == "indeed"
            assert fork.id not in ("", session.id)
            short = await codex.start(cwd=repo, ephemeral=True)
            assert (await short.run("three")).text == "indeed"
            assert not list(play.rehearsal.codex_home.glob(f"sessions/**/*{short.id}*"))

    asyncio.run(story())


def test_a_schema_for_the_answer_reaches_the_model(stage: MakeStage, repo: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }

    async def story() -> None:
        play = stage("""- say: '{"ok":true}'""")
        async with asyncio.timeout(SECONDS), play.connect_exec() as codex:
            session = await codex.start(cwd=repo)
            result = await session.run("check", output_schema=schema)
            assert json.loads(result.text) == {"ok": True}
        asked = play.rehearsal.requests[0].body
        assert '"ok"' in json.dumps(asked["text"]["format"]["schema"])

    asyncio.run(story())


def test_an_interrupt_ends_the_process_and_the_turn(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("turns:\n- - run: sleep 60\n- - say: fine")
        async with asyncio.timeout(SECONDS), play.connect_exec() as codex:
            session = await codex.start(cwd=repo, **_FULL)
            ended: list[str] = []
            async for message in session.run("work"):
                if isinstance(message, ToolCall):
                    await session.interrupt()
                if isinstance(message, TurnEnded):
                    ended.append(message.outcome)
            assert ended == ["interrupted"]
            assert not session.running
            assert (await session.run("again")).text == "fine"

    asyncio.run(story())


def test_a_failing_model_is_a_failed_turn(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage("- http: 401").connect_exec() as codex:
            session = await codex.start(cwd=repo)
            result = await session.run("work")
            assert (result.outcome, result.error is not None) == ("failed", True)
            assert result.error is not None
            assert (result.error.kind, result.error.retryable) == ("response_error", False)

    asyncio.run(story())


def test_what_needs_a_listening_process_is_refused_in_a_sentence(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage("- say: hi").connect_exec() as codex:
            session = await codex.start(cwd=repo)
            with pytest.raises(Unsupported, match=r"needs a session on a server"):
                await session.steer("left")
            with pytest.raises(Unsupported, match=r"asking for approval"):
                await codex.start(cwd=repo, approvals="on-request")
            with pytest.raises(Unsupported, match=r"tools of ours"):
                await codex.start(cwd=repo, tools=[print])
            for refused in (session.compact, session.review):
                with pytest.raises(Unsupported):
                    refused()
            for wish in (codex.models(), codex.rate_limits(), session.read(), session.archive()):
                with pytest.raises(Unsupported):
                    await wish

    asyncio.run(story())


@pytest.mark.parametrize(
    "wanted", ["a-name-that-no-session-has", "01a1e150-0001-7a30-8813-0000000000ff"]
)
def test_a_session_that_is_not_there_is_never_replaced_by_a_new_one(
    stage: MakeStage, repo: Path, wanted: str
) -> None:
    async def story() -> None:
        play = stage("- say: this is another session")
        async with play.connect(mode="exec") as codex:
            session = await codex.start(cwd=repo, resume=wanted)
            result = await session.run("and now?")
            assert result.outcome == "failed"
            assert result.error is not None
            assert wanted in result.error.message
            assert session.id == wanted

    asyncio.run(story())


def test_a_profile_that_is_not_there_is_refused(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage("- say: hi").connect_exec() as codex:
            session = await codex.start(cwd=repo, profile="nosuch")
            with pytest.raises(UsageError, match=r"there is no profile 'nosuch'"):
                await session.run("hi")

    asyncio.run(story())


def test_a_profile_that_this_release_would_not_find_is_refused(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        play = stage("- say: hi")
        with (play.rehearsal.codex_home / "config.toml").open("a") as settings:
            settings.write('\n[profiles.quick]\nmodel_reasoning_effort = "low"\n')
        async with asyncio.timeout(SECONDS), play.connect_exec() as codex:
            session = await codex.start(cwd=repo, profile="quick")
            with pytest.raises(UsageError, match=r"from quick\.config\.toml in Codex's home"):
                await session.run("hi")

    asyncio.run(story())
