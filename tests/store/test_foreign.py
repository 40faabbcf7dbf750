from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dragoman.store.foreign import listed_sessions


def make(path: Path, *, journal: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    if journal:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute('CREATE TABLE threads (id TEXT, "the path" TEXT, more)')
    connection.executemany(
        "INSERT INTO threads VALUES (?, ?, 0)", [("a", "/a.jsonl"), ("b", "/b.jsonl"), (None, 7)]
    )
    return connection


def listed(path: Path) -> dict[str, str] | None:
    return listed_sessions(path, "threads", "id", "the path")


def looks(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.iterdir()}


def test_sessions_are_listed_and_nothing_is_written(tmp_path: Path) -> None:
    make(tmp_path / "list.sqlite").close()
    before = looks(tmp_path)

    assert listed(tmp_path / "list.sqlite") == {"a": "/a.jsonl", "b": "/b.jsonl"}

    assert looks(tmp_path) == before


def test_what_is_still_in_the_journal_is_listed_too(tmp_path: Path) -> None:
    path = tmp_path / "list.sqlite"
    writer = make(path, journal=True)
    before = looks(tmp_path)
    assert before["list.sqlite-wal"][0]

    assert listed(path) == {"a": "/a.jsonl", "b": "/b.jsonl"}

    assert looks(tmp_path) == before
    writer.close()


def test_a_writer_is_neither_waited_for_nor_disturbed(tmp_path: Path) -> None:
    writer = make(tmp_path / "list.sqlite", journal=True)
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("DELETE FROM threads")

    assert listed(tmp_path / "list.sqlite") == {"a": "/a.jsonl", "b": "/b.jsonl"}

    writer.execute("COMMIT")
    assert listed(tmp_path / "list.sqlite") == {}
    writer.close()


@pytest.mark.parametrize("content", [None, b"", b"this is no database at all" * 100])
def test_there_is_nothing_to_compare_with_what_cannot_be_read(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "list.sqlite"
    if content is not None:
        path.write_bytes(content)

    assert listed(path) is None


def test_tables_of_another_shape_are_not_understood(tmp_path: Path) -> None:
    make(tmp_path / "list.sqlite").close()

    assert listed_sessions(tmp_path / "list.sqlite", "threads", "nothing", "the path") is None
    assert listed_sessions(tmp_path / "list.sqlite", 'so"me', "id", "the path") is None
