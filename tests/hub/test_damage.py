"""A live store that the disk has changed: a clear outcome each time, and nothing lost without a word."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections.abc import Iterator

import pytest

from dragoman.hub.hub import Hub, LiveSession
from dragoman.model.messages import Malformed, Text, TurnEnded
from dragoman.store.live import log
from dragoman.store.live.reading import LiveStoreUnusable
from support.agents.hubs import SECONDS, Pretence


async def _work(pretence: Pretence) -> None:
    """Two sessions with a turn each; a copy of the store as it stands in the middle of it, too."""
    pretence.server.answers_with(*(f"answer {n} " * 20 for n in range(30)))
    async with asyncio.timeout(SECONDS), pretence.hub() as hub:
        for _ in range(2):
            session = await hub.start(cwd=pretence.repo, prompt="go")
            async for told in hub.subscribe(session.id):
                if isinstance(getattr(told, "message", None), TurnEnded):
                    break
        shutil.copytree(pretence.data, pretence.folder / "killed")


def _mutations(blob: bytes, seed: int) -> Iterator[bytes]:
    dice = random.Random(seed)
    for kind in range(24):
        data = bytearray(blob)
        if kind % 4 == 0:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif kind % 4 == 1:
            for _ in range(20):
                data[dice.randrange(len(data))] = dice.randrange(256)
        elif kind % 4 == 2:
            page = dice.randrange(len(data) // 4096) * 4096
            data[page : page + 4096] = dice.randbytes(4096)
        else:
            del data[dice.randrange(len(data)) :]
        yield bytes(data)


def _read_all(hub: Hub) -> list[LiveSession]:
    sessions = hub.sessions()
    for session in sessions:
        for entry in hub.entries(session.id):
            assert entry.message is not None
            assert entry.json.startswith(b"{")
    hub.verify()
    return sessions


@pytest.fixture(autouse=True)
def looked_at_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing writes the logs of these tests, so there is nothing to wait for."""
    monkeypatch.setattr(log, "_PAUSE", 0)


@pytest.mark.parametrize("left", ["data", "killed"])
def test_whatever_the_disk_changed_the_outcome_is_clear(pretence: Pretence, left: str) -> None:
    async def story() -> None:
        await _work(pretence)
        good = pretence.folder / left
        sentences: list[str] = []
        named = "live.db-wal" if left == "killed" else "live.db"
        for number, damaged in enumerate(_mutations((good / named).read_bytes(), seed=7)):
            pretence.data = pretence.folder / f"{left}-{number}"
            shutil.copytree(good, pretence.data)
            (pretence.data / named).write_bytes(damaged)
            try:
                async with asyncio.timeout(SECONDS), pretence.hub() as hub:
                    shown = _read_all(hub)
                    # SQLite leaves out the end of a log that it cannot read; nothing else may be missing.
                    assert left == "killed" or len(shown) == 2 or hub.note is not None
            except LiveStoreUnusable as problem:
                sentences.append(str(problem).replace(str(pretence.data), "DIR"))
            shutil.rmtree(pretence.data)
        assert all(each.startswith(("DIR/live.db ", "nothing can be stored")) for each in sentences)

    asyncio.run(story())


def test_a_damaged_entry_is_shown_as_such_and_the_others_as_they_are(pretence: Pretence) -> None:
    async def story() -> None:
        await _work(pretence)
        with sqlite3.connect(pretence.data / "live.db") as other:
            other.execute("UPDATE entries SET message = X'7B2274FF' WHERE kind = 'prompt'")
            other.execute("UPDATE entries SET at = 1e300 WHERE kind = 'turn_started'")
        other.close()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            for session in hub.sessions():
                messages = [entry.message for entry in hub.entries(session.id)]
                [broken] = [each for each in messages if isinstance(each, Malformed)]
                assert "is damaged" in broken.problem
                assert broken.raw.startswith('{"t')
                assert any(isinstance(each, Text) for each in messages)

    asyncio.run(story())


def test_the_entries_of_a_session_whose_record_is_damaged_can_be_read(pretence: Pretence) -> None:
    async def story() -> None:
        await _work(pretence)
        with sqlite3.connect(pretence.data / "live.db") as other:
            other.execute("UPDATE sessions SET body = X'7B' WHERE session = 1")
        other.close()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert len(hub.sessions()) == 2
            [odd] = [each for each in hub.sessions() if each.title == "damaged session"]
            assert odd.error is not None
            assert "is damaged" in odd.error
            assert any(isinstance(entry.message, Text) for entry in hub.entries(odd.id))

    asyncio.run(story())


def test_a_store_that_was_moved_away_is_mentioned(pretence: Pretence) -> None:
    async def story() -> None:
        await _work(pretence)
        file = pretence.data / "live.db"
        file.write_bytes(file.read_bytes()[:5000])
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert hub.note is not None
            assert "live.db.old-1" in hub.note
        assert (pretence.data / "live.db.old-1").stat().st_size == 5000

    asyncio.run(story())
