"""An index that several processes have built is the one that a single process builds."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.finding import FoundFile
from dragoman.archive.index import ahead, updating
from support.archive.index_rows import rows_of
from support.archive.saved_sessions import save, simple

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="copies of a process pay only on Linux"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]
_TABLES = ("files", "entries", "spans", "sessions", "turns", "marks", "drafts", "tools")
_TEXTS = ["naïve “quotes” → ✓", "設定を確認します", "请检查缓存", "plain words", "LONE half"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for number in range(1, 30):
        prompts = [f"{text} {number}" for text in _TEXTS[: number % 5 + 1]]
        save(home, number, simple(number, prompts))
    for path in home.rglob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"LONE", rb"\ud800"))
    (home / "sessions" / "2026" / "broken.jsonl").write_bytes(b"not a session\n")
    return home


def _use(monkeypatch: pytest.MonkeyPatch, copies: int) -> list[int]:
    """Read with so many copies; the list gets how many files there were for them."""
    asked: list[int] = []

    def can_read_ahead(found: list[FoundFile]) -> int:
        asked.append(len(found))
        return copies

    monkeypatch.setattr(updating, "can_read_ahead", can_read_ahead)
    return asked


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())


def _indexed(home: Path, cache: Path, *, exactly: bool = True) -> list[list[Any]]:
    before = _children()
    with SessionArchive(home=home, cache=cache) as archive:
        report = archive.index()
        assert report is not None
        assert report.is_whole
        assert _children() == before
        assert len(archive.search("設定").hits) > 5
        return [*rows_of(archive), *(_whole(archive, table) for table in _TABLES if exactly)]


def _whole(archive: SessionArchive, table: str) -> list[Any]:
    return archive._database.rows(f"SELECT * FROM {table} ORDER BY 1, 2")


@pytest.mark.parametrize("copies", [1, 2])
def test_the_index_is_the_same(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copies: int
) -> None:
    _use(monkeypatch, 0)
    alone = _indexed(home, tmp_path / "alone")
    asked = _use(monkeypatch, copies)
    shared = _indexed(home, tmp_path / "shared")

    assert asked == [30]
    assert shared == alone


@pytest.mark.parametrize("after", [0, 7])
def test_a_copy_that_dies_is_replaced(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    _use(monkeypatch, 0)
    alone = _indexed(home, tmp_path / "alone", exactly=False)
    read_one, own, count = ahead._read_one, os.getpid(), 0

    def dying(found: FoundFile, write: object) -> None:
        nonlocal count
        count += 1
        if count > after and os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        read_one(found, write)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(ahead, "_read_one", dying)
    _use(monkeypatch, 1)

    assert _indexed(home, tmp_path / "shared", exactly=False) == alone


def test_a_file_that_cannot_be_read_is_reported(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_file = ahead.index_file
    [bad] = [path for path in home.rglob("*.jsonl") if path.name == "broken.jsonl"]

    def failing(tables: object, found: FoundFile, row: object, after: object) -> int:
        if found.path == str(bad):
            raise PermissionError(13, "Permission denied", found.path)
        return index_file(tables, found, row, after)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(ahead, "index_file", failing)
    _use(monkeypatch, 1)
    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        report = archive.index()
        assert report is not None
        assert report.unreadable == ((str(bad), "Permission denied"),)
        assert report.new == 29


def test_what_is_no_file_is_called_what_it_is(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, 1)
    pipe = home / "sessions" / "2026" / "pipe.jsonl"
    os.mkfifo(pipe)

    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        report = archive.index()

        assert report is not None
        assert report.unreadable == ((str(pipe), "it is a named pipe, not a file"),)


def test_little_is_read_by_one_process() -> None:
    assert ahead.can_read_ahead([FoundFile("/x", 1, 1, 1000, 1)]) == 0


def test_much_is_read_by_one_process_where_threads_could_hold_locks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    much = [FoundFile(f"/{number}", 1, 1, 50_000_000, 1) for number in range(9)]
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread()])
    assert ahead.can_read_ahead(much) == 1
    other = threading.Thread(name="other")
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread(), other])
    assert ahead.can_read_ahead(much) == 0
