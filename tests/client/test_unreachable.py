"""No one is signed in, or the model is out of reach: known in time, with the real Codex in both modes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.client.connecting import open_connection
from dragoman.client.connection import Connection
from dragoman.drive.timeouts import Timeouts
from dragoman.errors import Stalled
from dragoman.model.messages import Notice
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]


@pytest.mark.parametrize("mode", ["app-server", "exec"])
def test_a_model_that_is_out_of_reach_ends_the_turn_at_its_stall_limit(
    stage: MakeStage, repo: Path, mode: str
) -> None:
    """Codex would try a thousand times, and say so each time."""

    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        closed = {"base_url": f"http://127.0.0.1:{port}/v1"}
        again = {"request_max_retries": 0, "stream_max_retries": 100}
        config = {"model_providers": {"rehearsal": {**closed, **again}}}
        play = stage("- say: never", config=config)
        reach: Any = play.connect if mode == "app-server" else play.connect_exec
        async with asyncio.timeout(SECONDS), reach(timeouts=Timeouts(stall=4)) as codex:
            session = await codex.start(cwd=repo, approvals="never")
            result = await session.run("work")
        retries = [m for m in result.messages if isinstance(m, Notice) and m.will_retry]
        assert retries, "it tried again, and said so"
        with pytest.raises(Stalled, match="the model cannot be reached: Reconnecting") as caught:
            result.check()
        assert caught.value.reason == "model"

    asyncio.run(story())


@pytest.mark.parametrize("mode", ["app-server", "exec"])
def test_it_is_known_before_the_first_turn_whether_someone_is_signed_in(
    codex: str, tmp_path: Path, mode: Any
) -> None:
    async def story() -> None:
        env = {"CODEX_HOME": str(tmp_path), "HOME": str(tmp_path)}
        env |= dict.fromkeys(("CODEX_API_KEY", "OPENAI_API_KEY"), "")
        how = Connection(mode=mode, command=codex, env=env)
        async with (
            asyncio.timeout(SECONDS),
            open_connection("codex", how) as agent,
        ):
            assert agent.facts is not None
            assert (agent.facts.signed_in, agent.facts.needs_sign_in) == (False, True)
        (tmp_path / "auth.json").write_text('{"OPENAI_API_KEY": "sk-test"}', encoding="utf-8")
        async with (
            asyncio.timeout(SECONDS),
            open_connection("codex", how) as agent,
        ):
            assert agent.facts is not None
            assert (agent.facts.signed_in, agent.facts.needs_sign_in) == (True, False)

    asyncio.run(story())
