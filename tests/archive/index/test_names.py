"""Names that people gave to sessions come from the harness's own list, not from the session files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.store.locking import WriterLock
from support.archive.saved_sessions import save, session_id, simple


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for number in (1, 2):
        save(tmp_path / "home", number, simple(number))
    return tmp_path / "home"


@pytest.fixture
def archive(home: Path, tmp_path: Path) -> Iterator[SessionArchive]:
    with SessionArchive(home=home, cache=tmp_path / "cache") as opened:
        yield opened


def call(home: Path, number: int, name: object) -> None:
    """As the real program does."""
    with (home / "session_index.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": session_id(number), "thread_name": name}) + "\n")


def titles(archive: SessionArchive) -> list[str | None]:
    archive.index()
    return [each.title for each in archive.sessions()]


def test_the_last_name_holds_and_the_order_stays(home: Path, archive: SessionArchive) -> None:
    assert titles(archive) == ["please hello", "please hello"]
    call(home, 1, "Shed")
    assert titles(archive) == ["please hello", "Shed"]
    call(home, 1, "The  shed\nand more")
    call(home, 3, "of a session that is gone")
    assert titles(archive) == ["please hello", "The shed"]
    assert archive.get(session_id(1)).title == "The shed"
    found = archive.search("output").hits
    assert {hit.match.title for hit in found} == {"please hello", "The shed"}


def test_what_is_no_name_is_passed_over(home: Path, archive: SessionArchive) -> None:
    call(home, 2, "Fine")
    call(home, 2, "half a pair: \ud800")
    call(home, 2, "  ")
    call(home, 2, 7)
    with (home / "session_index.jsonl").open("ab") as file:
        file.write(b'{"id": 4\n\xff\n[]\n' + b"x" * 100)
    assert titles(archive) == ["Fine", "please hello"]


def test_a_list_that_is_gone_or_no_file_names_nobody(home: Path, archive: SessionArchive) -> None:
    call(home, 2, "Named")
    assert titles(archive) == ["Named", "please hello"]
    (home / "session_index.jsonl").unlink()
    assert titles(archive) == ["please hello", "please hello"]
    (home / "session_index.jsonl").mkdir()
    assert titles(archive) == ["please hello", "please hello"]


def test_names_wait_while_another_program_writes(
    home: Path, tmp_path: Path, archive: SessionArchive
) -> None:
    assert titles(archive) == ["please hello", "please hello"]
    call(home, 2, "Named")
    lock = WriterLock(next((tmp_path / "cache").rglob("*.lock")))
    assert lock.acquire()
    archive.index(wait_seconds=0.0)
    assert archive.sessions()[0].title == "please hello"
    lock.release()
    assert titles(archive) == ["Named", "please hello"]


def test_an_index_from_before_there_were_names_gets_them(
    home: Path, tmp_path: Path, archive: SessionArchive
) -> None:
    call(home, 2, "Named")
    assert titles(archive) == ["Named", "please hello"]
    archive.close()
    with sqlite3.connect(next((tmp_path / "cache").rglob("index.sqlite3"))) as before:
        before.execute("DROP TABLE names")
        before.execute("DELETE FROM facts WHERE name = 'names'")
        before.execute("PRAGMA user_version = 2")
    before.close()
    with SessionArchive(home=home, cache=tmp_path / "cache") as again:
        assert titles(again) == ["Named", "please hello"]
