from __future__ import annotations

import ctypes
import ctypes.util
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from dragoman.store.database import NAME, IndexUnusable, NotAnIndex, open_database, set_aside
from dragoman.store.schema import APPLICATION_ID, VERSION, migrate
from support.agents.powers import no_power_over_files


def test_a_new_database_is_made_and_found_again(tmp_path: Path) -> None:
    first = open_database(tmp_path / "deep" / "down")
    first.set_fact("edition", 7)
    first.close()

    again = open_database(tmp_path / "deep" / "down")

    assert again.fact("edition") == 7
    assert again.note is None
    assert again.row("PRAGMA journal_mode")[0] == "wal"
    assert again.row("PRAGMA foreign_keys")[0] == 1
    assert again.size() > 0
    again.close()


def test_only_the_user_may_look_into_it(tmp_path: Path) -> None:
    open_database(tmp_path / "cache").close()

    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"SQLitX format 3\0" * 300, "damaged"), (b"SQLite format 3\0" * 300, "damaged")],
)
def test_a_damaged_database_is_moved_aside(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / NAME).write_bytes(content)

    opened = open_database(tmp_path)

    assert opened.note is not None
    assert why in opened.note
    assert (tmp_path / f"{NAME}.old-1").read_bytes() == content
    assert opened.fact("edition") is None
    opened.close()


@pytest.mark.parametrize("content", [b"my notes\n" * 100, b"x"])
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)

    with pytest.raises(
        NotAnIndex, match=r"it is not a database. Move that file away, or set DRAGOMAN_CACHE"
    ):
        open_database(tmp_path)

    assert (tmp_path / NAME).read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_folder_where_the_index_should_be_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME / "inside").mkdir(parents=True)

    with pytest.raises(NotAnIndex, match="it is not a file"):
        open_database(tmp_path)


def test_a_pipe_where_the_index_should_be_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)

    with pytest.raises(NotAnIndex, match="it is not a file"):
        open_database(tmp_path)


def test_a_device_where_the_index_should_be_is_not_read(tmp_path: Path) -> None:
    (tmp_path / NAME).symlink_to("/dev/zero")

    with pytest.raises(NotAnIndex, match="it is not a file"):
        open_database(tmp_path)


def test_what_this_process_has_open_can_be_put_aside(tmp_path: Path) -> None:
    opened = open_database(tmp_path)

    assert set_aside() == [f"{NAME}.old-1"]
    assert set_aside() == []
    opened.close()


def test_somebody_elses_database_is_moved_aside(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / NAME)
    other.execute("CREATE TABLE theirs (x)")
    other.execute("PRAGMA user_version = 1")
    other.commit()
    other.close()

    opened = open_database(tmp_path)

    assert opened.note is not None
    assert "another program" in opened.note
    opened.close()


@pytest.mark.parametrize("version", [-5, 0, *range(1, VERSION)])
def test_a_version_that_was_damaged_makes_a_new_index(tmp_path: Path, version: int) -> None:
    open_database(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / NAME)) as damaged:
        damaged.execute(f"PRAGMA user_version = {version}")
        damaged.commit()

    opened = open_database(tmp_path)

    assert opened.note is not None
    assert "is damaged" in opened.note
    opened.close()
    again = open_database(tmp_path)
    assert again.note is None
    again.close()


@pytest.mark.parametrize("version", range(1, VERSION))
def test_an_older_index_is_migrated_and_kept(tmp_path: Path, version: int) -> None:
    with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as older:
        migrate(older, to=version)

    opened = open_database(tmp_path)

    assert opened.note is None
    assert opened.rows("PRAGMA user_version") == [(VERSION,)]
    opened.close()


def test_a_newer_database_is_moved_aside(tmp_path: Path) -> None:
    open_database(tmp_path).close()
    newer = sqlite3.connect(tmp_path / NAME)
    newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    newer.commit()
    newer.close()

    opened = open_database(tmp_path)

    assert opened.note is not None
    assert "newer version" in opened.note
    opened.close()


def test_moving_aside_never_overwrites_what_was_moved_before(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / NAME).write_bytes(b"SQLite format 3\0" + b"garbage %d" % number * 100)
        open_database(tmp_path).close()

    kept = sorted(path.name for path in tmp_path.glob(f"{NAME}.old-*"))
    assert kept == [f"{NAME}.old-{number}" for number in (1, 2, 3)]


def test_where_nothing_can_be_written_it_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    opened = open_database(tmp_path / "file" / "below")

    assert opened.path is None
    assert opened.note is not None
    assert "in memory" in opened.note
    opened.set_fact("x", 1)
    assert opened.fact("x") == 1
    opened.close()


def test_one_that_cannot_be_written_is_used_as_it_is(tmp_path: Path) -> None:
    opened = open_database(tmp_path / "cache")
    opened.set_fact("x", 1)
    opened.close()
    (tmp_path / "cache" / NAME).chmod(0o400)
    (tmp_path / "cache").chmod(0o500)
    try:
        with no_power_over_files():
            again = open_database(tmp_path / "cache")

        assert not again.can_write
        assert again.note is not None
        assert again.fact("x") == 1
        again.close()
    finally:
        (tmp_path / "cache").chmod(0o700)


def test_an_error_of_the_disk_is_a_sentence(tmp_path: Path) -> None:
    opened = open_database(tmp_path)
    opened.row("PRAGMA max_page_count = 1")

    with pytest.raises(IndexUnusable, match="disk is full"):
        opened.write_many(
            "INSERT INTO facts VALUES (?, ?)", [(str(n), "x" * 9000) for n in range(99)]
        )
    opened.close()


def test_it_says_that_it_is_ours(tmp_path: Path) -> None:
    opened = open_database(tmp_path)

    assert opened.row("PRAGMA application_id")[0] == APPLICATION_ID
    opened.close()


def test_one_that_was_deleted_is_noticed(tmp_path: Path) -> None:
    opened = open_database(tmp_path)
    assert not opened.is_gone()
    (tmp_path / NAME).unlink()
    assert opened.is_gone()
    another = open_database(tmp_path)
    assert opened.is_gone()
    assert not another.is_gone()
    opened.close()
    another.close()
    memory = open_database(None)
    assert not memory.is_gone()
    memory.close()


def _full(_: str) -> None:
    raise sqlite3.OperationalError("database or disk is full")


def test_on_a_full_disk_what_was_written_last_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_database(tmp_path)
    writer.set_fact("edition", 7)  # in the journal, and not in the database yet
    monkeypatch.setattr("dragoman.store.database._open", _full)

    reader = open_database(tmp_path)

    assert reader.fact("edition") == 7
    assert not reader.can_write
    assert reader.note is not None
    assert "cannot be written" in reader.note
    reader.close()
    writer.close()


def test_on_a_full_disk_half_an_index_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_database(tmp_path).close()
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole[:4096] + b"\0" * (len(whole) - 4096))
    monkeypatch.setattr("dragoman.store.database._open", _full)

    opened = open_database(tmp_path)

    assert opened.path is None
    assert opened.note is not None
    assert "disk is full" in opened.note
    opened.close()


def test_a_mark_is_another_one_after_a_change_of_ours_or_of_anybody_else(tmp_path: Path) -> None:
    ours, other = open_database(tmp_path), open_database(tmp_path)
    before = ours.mark()
    assert ours.mark() == before
    ours.set_fact("edition", 7)
    after = ours.mark()
    assert after != before
    other.set_fact("edition", 8)
    assert ours.mark() not in (before, after)
    ours.close()
    other.close()


def test_memory_that_pages_are_kept_in_is_given_back(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    database.write("CREATE TABLE words (word BLOB)")
    database.begin()
    database.write_many("INSERT INTO words VALUES (?)", ((bytes(3000),) for _ in range(1000)))
    database.commit()
    database.rows("SELECT max(word) FROM words")
    full = _memory_of_sqlite()
    if not full:
        pytest.skip("the SQLite that Python uses is another one than the system's")

    database.let_go()

    assert full - _memory_of_sqlite() > 2_000_000
    database.close()


def _memory_of_sqlite() -> int:
    library = ctypes.util.find_library("sqlite3")
    assert library is not None
    used = ctypes.CDLL(library).sqlite3_memory_used
    used.restype = ctypes.c_longlong
    return int(used())
