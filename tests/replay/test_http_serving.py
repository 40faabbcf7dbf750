"""A recording served over HTTP, to our own driver for it: without the real program, and without mocks."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, cast

import pytest

import dragoman
from dragoman.drive.agent import Agent
from dragoman.drive.timeouts import Timeouts
from dragoman.errors import ResponseError, TurnFailed
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    SessionStarted,
    Text,
    ToolResult,
)

_DATA = Path(__file__).parents[1] / "data" / "opencode" / "1.18.33"
_SECONDS = 60
_connect = cast("Callable[..., AbstractAsyncContextManager[Agent]]", dragoman.connect)
_PROGRAM = (
    "import sys; from dragoman.cli.commands.replay import replay; "
    "sys.exit(replay.main(sys.argv[1:], standalone_mode=False))"
)


def _stand_in(folder: Path, name: str) -> str:
    path = folder / "opencode"
    recording = str(_DATA / f"{name}.live.jsonl")
    words = [sys.executable, "-c", _PROGRAM, recording, "--as", "serve", "--speed", "0"]
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def _driven(
    folder: Path, name: str, story: Callable[[Agent], Awaitable[None]], **options: Any
) -> int:
    """Connect, and play a story; return the server's process."""

    async def play() -> int:
        more = {"timeouts": Timeouts(read=30, turn=30, stall=20), **options}
        async with (
            asyncio.timeout(_SECONDS),
            _connect("opencode", command=_stand_in(folder, name), **more) as agent,
        ):  # fmt: skip
            pid = agent.pid
            assert pid is not None
            await story(agent)
        return pid

    return asyncio.run(play())


def test_a_server_is_driven_from_its_start_to_its_end(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    heard: list[Message] = []
    asked: list[str] = []

    def policy(request: ApprovalRequested) -> str:
        asked.append(str(request.command))
        return "deny" if "denied" in str(request.command) else "allow"

    async def story(agent: Agent) -> None:
        agent.observe(heard.append)
        assert agent.facts is not None
        assert agent.facts.version == "1.18.33"
        session = await agent.start(cwd=tmp_path)
        texts = [(await session.run("go")).text for _ in range(3)]
        assert texts == ["One.", "Two.", "Three."]
        with pytest.raises(TurnFailed, match="no further turn"):
            (await session.run("more")).check()
        assert [each.id for each in await agent.models()] == ["recorded/stand-in"]

    pid = _driven(tmp_path, "approvals", story, policy=policy, journal=journal)

    assert asked == ["touch allowed.txt", "touch denied.txt", "touch advised.txt"]
    settled = [each.decision for each in heard if isinstance(each, ApprovalSettled)]
    assert settled[:2] == ["allow", "deny"]
    assert len([each for each in heard if isinstance(each, ToolResult)]) == 3
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    # The journal reads as what was emitted.
    read = list(dragoman.read(journal))
    assert [each.text for each in read if isinstance(each, Text)] == [
        each.text for each in heard if isinstance(each, Text)
    ]


def test_nothing_is_asked_with_full_access_and_a_sub_agent_has_a_session_of_its_own(
    tmp_path: Path,
) -> None:
    heard: list[Message] = []

    async def story(agent: Agent) -> None:
        agent.observe(heard.append)
        session = await agent.start(cwd=tmp_path, access="full")
        result = await session.run("go")
        assert (result.outcome, result.text) == ("completed", "All done.")
        assert (await agent.saved_sessions()).sessions[0].id == session.id

    _driven(tmp_path, "driven", story)

    started = [each for each in heard if isinstance(each, SessionStarted)]
    assert any(each.parent_session_id for each in started)
    assert [each for each in heard if isinstance(each, ApprovalRequested)] == []


def test_a_client_without_the_password_is_turned_away(tmp_path: Path) -> None:
    from dragoman.drive.links import http_link

    async def story(agent: Agent) -> None:
        worker = agent.workers[0]
        assert worker.exchange is not None
        link = worker.exchange.link
        assert isinstance(link, http_link.HttpLink)
        link._password = "wrong"  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(ResponseError, match="401"):
            await agent.models()

    _driven(tmp_path, "hello", story)
