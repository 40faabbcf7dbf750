from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import dragoman
from dragoman.drive.opening import check_access
from dragoman.errors import AuthorityMismatch, ResponseError
from dragoman.harnesses.contract.capabilities import Capabilities, Choice
from dragoman.model.intents import OpenSession, SessionFacts
from dragoman.model.messages import Notice
from support.toy.installing import installed

_SECONDS = 60
_OFFERED = Capabilities(
    access=(
        Choice(value="look", label="Look", summary="Looks.", level="read"),
        Choice(value="touch", label="Touch", summary="Touches.", level="write"),
        Choice(value="poke", label="Poke", summary="Touches.", level="write"),
    )
)


@pytest.mark.parametrize("confirmed", ["touch", "poke", "look", None])
def test_access_that_is_no_wider_is_accepted(confirmed: str | None) -> None:
    opening = OpenSession(cwd="/w", access="touch")
    check_access(_OFFERED, opening, SessionFacts(session_id="s", access=confirmed))


@pytest.mark.parametrize("confirmed", ["touch", "brand-new"])
def test_access_that_is_wider_or_unknown_is_refused(confirmed: str) -> None:
    opening = OpenSession(cwd="/w", access="look")
    with pytest.raises(AuthorityMismatch, match=f"requested access 'look', .* '{confirmed}'"):
        check_access(_OFFERED, opening, SessionFacts(session_id="s", access=confirmed))


def test_a_session_that_cannot_be_resumed_is_replaced_only_if_allowed(tmp_path: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(_SECONDS), dragoman.connect("toy") as agent:
            seen: list[object] = []
            agent.observe(seen.append)
            with pytest.raises(ResponseError, match="there is no session gone"):
                await agent.start(cwd=tmp_path, resume="gone")
            assert agent.workers == []  # the process of that attempt is gone as well
            session = await agent.start(cwd=tmp_path, resume="gone", or_new=True)
            assert session.id != "gone"
            assert session.facts.resumed is False
            notices = [each.text for each in seen if isinstance(each, Notice)]
            assert notices == ["session gone cannot be resumed; this is a new one"]
            assert len(agent.workers) == 1

    with installed(tmp_path):
        asyncio.run(story())
