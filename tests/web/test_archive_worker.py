from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.ledger.counting import UsageQuery
from dragoman.archive.ledger.groups import Summary
from dragoman.archive.ledger.ledger import EVERYTHING
from dragoman.archive.places import ArchivePlace
from dragoman.errors import UsageError
from dragoman.web.archive_worker import ArchiveWorker, as_time
from support.archive.index_rows import index_here
from support.archive.saved_sessions import Rows, save, session_id
from support.page.web_stage import open_archive, play


def with_library(folder: Path, story: Callable[[ArchiveWorker], Coroutine[Any, Any, None]]) -> None:
    async def told() -> None:
        archive_worker = ArchiveWorker(open_archive(folder))
        try:
            await story(archive_worker)
        finally:
            await archive_worker.close()

    play(told())


def test_the_archive_is_opened_and_used_in_one_thread(tmp_path: Path) -> None:
    async def story(archive_worker: ArchiveWorker) -> None:
        threads = {await archive_worker.ask(lambda _: threading.get_ident()) for _ in range(3)}
        assert len(threads) == 1
        assert threading.get_ident() not in threads

    with_library(tmp_path, story)


def test_stretches_of_a_session_and_what_is_written_to_it_later(tmp_path: Path) -> None:
    async def story(archive_worker: ArchiveWorker) -> None:
        rows = Rows(1).turn("first", "one")
        path = save(tmp_path / "home", 1, rows.data)
        name = session_id(1)
        whole = await archive_worker.entries(name, limit=1_000)
        count = len(whole)
        assert [each.seq for each in whole] == list(range(1, count + 1))
        some = await archive_worker.entries(name, after=1, limit=2)
        assert some == whole[1:3]
        assert await archive_worker.entries(name, before=4, limit=2) == whole[1:3]
        assert await archive_worker.entries(name, before=1, limit=2) == []
        assert await archive_worker.entries(name, before=1 << 53, limit=1) == whole[-1:]
        path.write_bytes(rows.turn("second", "two").data)
        assert len(await archive_worker.entries(name, limit=1_000)) > count

    with_library(tmp_path, story)


def test_a_large_session_has_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows(1)
    for number in range(40):
        rows.turn(f"turn {number}", "done", ("echo", "word"))
    save(tmp_path / "home", 1, rows.data)
    name = session_id(1)

    async def story(archive_worker: ArchiveWorker) -> None:
        whole = await archive_worker.entries(name, limit=1_000)
        monkeypatch.setattr("dragoman.web.archive_worker._LARGE", 0)
        assert await archive_worker.entries(name, limit=1_000) == whole
        assert await archive_worker.entries(name, after=100, limit=7) == whole[100:107]
        assert await archive_worker.entries(name, before=90, limit=5) == whole[84:89]
        assert await archive_worker.entries(name, before=1 << 53, limit=5) == whole[-5:]

    with_library(tmp_path, story)


def test_the_library_answers_while_the_index_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_here(monkeypatch)
    for number in range(4):
        save(tmp_path / "home", number, Rows(number).turn("first", "one").data)

    async def story(archive_worker: ArchiveWorker) -> None:
        assert await archive_worker.ask(lambda archive: archive.sessions()) == []
        assert archive_worker.indexing is not None
        assert archive_worker.indexing.all_files == 4
        steps = 0
        while len(await archive_worker.ask(lambda archive: archive.sessions())) < 4:
            steps += 1
            assert steps < 100
        assert await archive_worker.ask(lambda _: archive_worker.indexing) is None

    with_library(tmp_path, story)


def test_trouble_with_the_index_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dragoman.web.archive_worker._FRESH_SECONDS", 0.0)
    path = save(tmp_path / "home", 1, Rows(1).turn("first", "one").data)
    path.with_name("rollout-odd.jsonl").mkdir()

    async def story(archive_worker: ArchiveWorker) -> None:
        for _ in range(3):
            assert len(await archive_worker.ask(lambda archive: archive.sessions())) == 1

    with_library(tmp_path, story)
    assert len([each for each in caplog.messages if "rollout-odd" in each]) == 1


def test_an_export_comes_in_pieces(tmp_path: Path) -> None:
    async def story(archive_worker: ArchiveWorker) -> None:
        save(tmp_path / "home", 1, Rows(1).turn("first", "one").data)
        pieces = [each async for each in archive_worker.export(session_id(1), "markdown")]
        assert b"first" in b"".join(pieces)
        with pytest.raises(UsageError):
            [each async for each in archive_worker.export("nothing", "markdown")]

    with_library(tmp_path, story)


def test_usage_of_all_sessions(tmp_path: Path) -> None:
    async def story(archive_worker: ArchiveWorker) -> None:
        save(tmp_path / "home", 1, Rows(1).turn("first", "one").data)
        told = await archive_worker.usage("session", EVERYTHING)
        assert [each.key for each in told.groups] == [session_id(1)]

    with_library(tmp_path, story)


def test_times_that_are_none() -> None:
    assert as_time(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert as_time(None) is None
    assert as_time(-1) is None
    assert as_time(1e18) is None


def test_a_sum_that_gets_old_while_another_is_counted_is_still_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "home", 1, Rows(1).turn("one", "1").data)

    async def story(archive_worker: ArchiveWorker) -> None:
        day = await archive_worker.usage("day", EVERYTHING)
        real = archive_worker._beside.count

        def slow(place: ArchivePlace, questions: Sequence[UsageQuery]) -> list[Summary]:
            assert [each.by for each in questions] == ["session"]
            archive_worker._counted.clear()
            return real(place, questions)

        monkeypatch.setattr(archive_worker._beside, "count", slow)
        again, session = await archive_worker.usages(["day", "session"], EVERYTHING)
        assert again == day
        assert session.total == day.total

    with_library(tmp_path, story)


def test_sums_are_let_go_of_when_nobody_asks_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "home", 1, Rows(1).turn("one", "1").data)
    monkeypatch.setattr("dragoman.web.archive_worker._FRESH_SECONDS", 0.01)

    async def story(archive_worker: ArchiveWorker) -> None:
        told = await archive_worker.usage("session", EVERYTHING)
        assert told.total.usage is not None
        async with asyncio.timeout(20):
            while archive_worker._counted:  # noqa: ASYNC110  it is only forgotten
                await asyncio.sleep(0.005)
        assert (await archive_worker.usage("session", EVERYTHING)).total == told.total

    with_library(tmp_path, story)
