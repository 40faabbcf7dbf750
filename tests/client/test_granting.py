"""What is allowed for a session ends with the session, with the real Codex."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dragoman.hub.hub import Hub
from dragoman.model.messages import ApprovalRequested
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]
_ASKING: dict[str, Any] = {"sandbox": "read-only", "approvals": "on-request"}
_TURN = "- - run: {command: touch outside, escalate: it must}\n  - say: done\n"


def test_allowed_for_a_session_holds_in_it_and_not_after_it(stage: MakeStage, repo: Path) -> None:
    asked: list[ApprovalRequested] = []

    def person(request: ApprovalRequested) -> str:
        asked.append(request)
        return "allow_for_session"

    async def story() -> None:
        play = stage("turns:\n" + 5 * _TURN)
        async with asyncio.timeout(SECONDS), play.connect(ask=person) as codex:
            session = await codex.start(cwd=repo, **_ASKING)
            for _ in range(2):
                assert (await session.run("touch it")).text == "done"
                assert (repo / "outside").exists()
                (repo / "outside").unlink()
            assert len(asked) == 1
            await session.close()

            session = await codex.start(cwd=repo, resume=session.id, **_ASKING)
            assert (await session.run("touch it")).text == "done"
            assert len(asked) == 2, "asked again: the session had ended"

    asyncio.run(story())


def test_a_hub_asks_again_after_a_session_was_stopped(
    stage: MakeStage, repo: Path, tmp_path: Path
) -> None:
    async def story() -> None:
        play = stage("turns:\n" + 5 * _TURN)
        async with (
            asyncio.timeout(SECONDS),
            Hub(tmp_path / "data", connection=play.connection(), roots=[repo]) as hub,
        ):
            session = await hub.start(cwd=repo, **_ASKING)

            async def run(*, is_asked: bool) -> None:
                await hub.run(session.id, "touch it")
                while hub.get(session.id).state != "done" or hub.get(session.id).turn_id:
                    for each in hub.approvals(session.id):
                        assert is_asked
                        hub.decide(each.id, "allow_for_session", session_id=session.id)
                        is_asked = False
                    await asyncio.sleep(0.02)
                assert not is_asked
                (repo / "outside").unlink()

            await run(is_asked=True)
            await run(is_asked=False)
            await hub.stop(session.id)
            await run(is_asked=True)

    asyncio.run(story())
