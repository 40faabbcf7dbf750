"""Whatever a file holds, every connection to it is closed: Python 3.13 and later complain about each one that is not."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from dragoman.store.database import NAME as INDEX
from dragoman.store.database import NotAnIndex, open_database
from dragoman.store.live.checking import verify
from dragoman.store.live.reading import LiveStoreUnusable
from dragoman.store.live.schema import VERSION
from dragoman.store.live.store import NAME as LIVE
from dragoman.store.live.store import LiveStore
from dragoman.store.locking import WriterLock

_NOT_A_DATABASE = b"no database at all" * 100
_ONLY_A_HEAD = b"SQLite format 3\0" + b"garbage" * 100


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """All connections that are made from now on."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def note(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection = connect(*args, **kwargs)
        opened.append(connection)
        return connection

    monkeypatch.setattr(sqlite3, "connect", note)
    return opened


def is_closed(connection: sqlite3.Connection) -> bool:
    try:
        return connection.total_changes < 0
    except sqlite3.ProgrammingError as problem:
        return "closed" in str(problem)


def damaged(folder: Path, damage: str) -> None:
    """A store or an index, with something wrong."""
    LiveStore(folder).close()
    open_database(folder).close()
    for name, table in ((LIVE, "sessions"), (INDEX, "facts")):
        path = folder / name
        whole = path.read_bytes()
        if damage == "no database":
            path.write_bytes(_NOT_A_DATABASE)
        elif damage == "only a head":
            path.write_bytes(_ONLY_A_HEAD)
        elif damage == "bad pages":
            path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
        elif damage == "cut short":
            path.write_bytes(whole[:5000])
        else:
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute(
                    f"PRAGMA user_version = {VERSION + 1_000}"
                    if damage == "newer"
                    else f"DROP TABLE {table}"
                )


DAMAGES = ("no database", "only a head", "bad pages", "cut short", "newer", "a table is missing")


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_live_store_leaves_no_connection_open(
    damage: str, tmp_path: Path, opened: list[sqlite3.Connection]
) -> None:
    damaged(tmp_path, damage)
    opened.clear()

    said = verify(tmp_path / LIVE)
    with suppress(LiveStoreUnusable):
        LiveStore(tmp_path).close()
    lock = WriterLock((tmp_path / LIVE).with_suffix(".lock"))
    assert lock.acquire()  # it was given back as well
    lock.release()

    assert said
    assert len(opened) >= 2
    assert all(map(is_closed, opened))


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_index_leaves_no_connection_open(
    damage: str, tmp_path: Path, opened: list[sqlite3.Connection]
) -> None:
    damaged(tmp_path, damage)
    opened.clear()

    with suppress(NotAnIndex):  # no database at all: it is left where it is
        open_database(tmp_path).close()

    assert all(map(is_closed, opened))
