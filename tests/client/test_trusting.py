"""A run leaves the user's configuration as it was, byte for byte, with the real Codex."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.model.intents import Sandbox
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]


@pytest.mark.parametrize("sandbox", ["workspace-write", "danger-full-access"])
@pytest.mark.parametrize("mode", ["app-server", "exec"])
@pytest.mark.parametrize("place", ["", "sub"])
def test_a_run_does_not_make_codex_trust_the_folder(
    stage: MakeStage, repo: Path, mode: str, sandbox: Sandbox, place: str
) -> None:
    async def story() -> None:
        play = stage("- say: fine")
        settings = play.rehearsal.codex_home / "config.toml"
        before = settings.read_bytes()
        (repo / place).mkdir(exist_ok=True)
        connect: Any = play.connect if mode == "app-server" else play.connect_exec
        async with asyncio.timeout(SECONDS), connect() as codex:
            session = await codex.start(cwd=repo / place, sandbox=sandbox, approvals="never")
            assert (await session.run("work")).text == "fine"
            assert (await session.run("again")).outcome == "completed"
        assert settings.read_bytes() == before

    asyncio.run(story())


@pytest.mark.parametrize("mode", ["app-server", "exec"])
@pytest.mark.parametrize(
    ("level", "loads"), [("trusted", True), ("untrusted", False), (None, False)]
)
def test_what_the_user_has_decided_holds(
    stage: MakeStage, repo: Path, mode: str, level: str | None, loads: bool
) -> None:
    """A repository's own settings are loaded only where the user trusts it."""

    async def story() -> None:
        (repo / ".codex").mkdir()
        own = 'developer_instructions = "from the repository"\n'
        (repo / ".codex" / "config.toml").write_text(own, encoding="utf-8")
        play = stage("- say: fine")
        settings = play.rehearsal.codex_home / "config.toml"
        if level is not None:
            with settings.open("a", encoding="utf-8") as file:
                file.write(f'\n[projects."{repo}"]\ntrust_level = "{level}"\n')
        before = settings.read_bytes()
        connect: Any = play.connect if mode == "app-server" else play.connect_exec
        async with asyncio.timeout(SECONDS), connect() as codex:
            session = await codex.start(cwd=repo, sandbox="workspace-write", approvals="never")
            assert (await session.run("work")).text == "fine"
        assert settings.read_bytes() == before
        said = str(play.rehearsal.requests[-1].body)
        assert ("from the repository" in said) is loads

    asyncio.run(story())
