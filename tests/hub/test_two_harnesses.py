"""One hub with agents of two harnesses, one of them a plug-in with a process for each session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dragoman.errors import UsageError
from dragoman.hub.hub import Entry, Hub
from dragoman.model.messages import Text, TurnEnded, TurnStarted
from support.agents.hubs import SECONDS
from support.toy.installing import Toy


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    return folder


def texts(hub: Hub, session_id: str) -> list[str]:
    messages = [entry.message for entry in hub.entries(session_id)]
    return [message.text for message in messages if isinstance(message, Text)]


async def ended(hub: Hub, session_id: str, turns: int = 1) -> None:
    def count() -> int:
        messages = [entry.message for entry in hub.entries(session_id)]
        return sum(isinstance(message, TurnEnded) for message in messages)

    while count() < turns:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def test_each_session_runs_on_its_harness(toy: Toy, tmp_path: Path, repo: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), Hub(tmp_path / "data", roots=[repo]) as hub:
            known = {each.name: each for each in hub.harnesses()}
            assert known["toy"].state == "stopped"
            assert known["toy"].problem is None
            assert known["toy"].sandboxes == ("touch", "look")
            assert [choice.label for choice in known["toy"].access] == ["Touch", "Look"]
            assert known["toy"].approval_modes == ()
            assert known["toy"].can == ("interrupt", "resume")
            one = await hub.start(cwd=repo, prompt="one", harness="toy")
            two = await hub.start(cwd=repo, prompt="two", harness="toy", access="read")
            assert (one.harness, one.sandbox, two.sandbox) == ("toy", "touch", "look")
            await asyncio.gather(ended(hub, one.id), ended(hub, two.id))
            assert texts(hub, one.id) == ["You said: one"]
            assert texts(hub, two.id) == ["You said: two"]
            assert {each.name: each.state for each in hub.harnesses()}["toy"] == "running"
            connections = {
                entry.connection
                for session in (one, two)
                for entry in hub.entries(session.id)
                if entry.message.line
            }
            assert len(connections) == 2
            await hub.rename(one.id, "A name")
            await hub.archive(one.id)
            assert (hub.get(one.id).title, hub.get(one.id).archived) == ("A name", True)
            await hub.archive(one.id, archived=False)
            await hub.run(one.id, "more", access="look")
            await ended(hub, one.id, 2)
            assert texts(hub, one.id) == ["You said: one", "You said: more"]
            assert hub.get(one.id).sandbox == "look"
            with pytest.raises(UsageError, match="no harness 'none' to drive"):
                await hub.start(cwd=repo, prompt="x", harness="none")
            assert hub.verify() == []

    asyncio.run(story())


def test_an_approval_is_decided_for_the_session_that_asks(
    toy: Toy, tmp_path: Path, repo: Path
) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), Hub(tmp_path / "data", roots=[repo]) as hub:
            one = await hub.start(cwd=repo, prompt="run ls", harness="toy")
            two = await hub.start(cwd=repo, prompt="run rm", harness="toy")
            while len(hub.approvals()) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            # Both processes call their first question the same.
            [first], [second] = hub.approvals(one.id), hub.approvals(two.id)
            assert first.id == second.id
            assert hub.decide(first.id, "allow", session_id=one.id)
            assert hub.decide(second.id, "deny", session_id=two.id)
            await asyncio.gather(ended(hub, one.id), ended(hub, two.id))
            assert texts(hub, one.id) == ["Ran ls."]
            assert texts(hub, two.id) == ["Did not run rm."]

    asyncio.run(story())


def test_a_hub_of_a_named_harness_lists_it_first(
    toy: Toy, tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with (
            asyncio.timeout(SECONDS),
            Hub(tmp_path / "data", roots=[repo], harness="toy") as hub,
        ):
            assert next(each.name for each in hub.harnesses()) == "toy"
            live = await hub.start(cwd=repo, prompt="hi")
            assert live.harness == "toy"
            await ended(hub, live.id)
        async with Hub(tmp_path / "data", roots=[repo], harness="toy") as hub:
            await hub.run(live.id, "again")
            await ended(hub, live.id, 2)
            assert texts(hub, live.id) == ["You said: hi", "You said: again"]

    asyncio.run(story())


def test_a_turn_that_the_agent_starts_by_itself_is_stored_and_delivered_once(
    toy: Toy, tmp_path: Path, repo: Path
) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), Hub(tmp_path / "data", roots=[repo]) as hub:
            session = await hub.start(cwd=repo, prompt="later", harness="toy")
            reader = hub.subscribe(session.id)
            told: list[Entry] = []
            while sum(isinstance(each.message, TurnEnded) for each in told) < 2:
                told += [each for each in await reader.some() if isinstance(each, Entry)]
            turns = [each.message.turn_id for each in told if isinstance(each.message, TurnStarted)]
            assert turns == ["1", "1-later"]
            assert texts(hub, session.id) == ["You said: later", "It is later."]
            assert [each.json for each in told] == [each.json for each in hub.entries(session.id)]
            await hub.run(session.id, "more")
            await ended(hub, session.id, turns=3)
            assert hub.get(session.id).state == "done"
            assert hub.verify() == []

    asyncio.run(story())
