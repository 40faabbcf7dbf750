from __future__ import annotations

import os
import sqlite3
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.model.messages import Message, Text, TurnStarted, encode
from dragoman.store.live.checking import verify
from dragoman.store.live.entries import Entry, Transient
from dragoman.store.live.reading import JournalLine, LiveStoreUnusable
from dragoman.store.live.schema import VERSION
from dragoman.store.live.store import LiveStore

NOW = datetime(2026, 11, 16, 12, 30, 15, 250000, tzinfo=UTC)


@pytest.fixture
def told() -> list[Any]:
    return []


@pytest.fixture
def store(tmp_path: Path, told: list[Any]) -> Iterator[LiveStore]:
    store = LiveStore(tmp_path, committed=told.extend)
    yield store
    store.close()


def entry(seq: int, text: str, *, connection: int = 0, line: int = 0) -> Entry:
    message = Text(session_id="s", text=text, line=line)
    return Entry("s", seq, NOW, encode(message), message, connection)


def add(store: LiveStore, number: int, *entries: Entry) -> None:
    for each in entries:
        store.add_entry(number, each, each)


def texts(entries: Iterable[Entry]) -> list[str]:
    return [each.message.text for each in entries if isinstance(each.message, Text)]


def test_entries_are_read_from_a_cursor_and_backwards(store: LiveStore) -> None:
    add(store, 1, *(entry(seq, f"t{seq}") for seq in range(1, 8)))
    add(store, 2, entry(1, "another session"))
    store.writer.flush()

    read = store.reading
    assert texts(read.entries(1, "s", after=0, limit=3)) == ["t1", "t2", "t3"]
    assert texts(read.entries(1, "s", after=5, limit=3)) == ["t6", "t7"]
    assert texts(read.entries(1, "s", after=7, limit=3)) == []
    assert texts(read.before(1, "s", seq=5, limit=2)) == ["t3", "t4"]
    assert texts(read.before(1, "s", seq=1, limit=2)) == []
    # A place beyond all that there can be is none of another session.
    assert texts(read.before(1, "s", seq=1 << 53, limit=1)) == ["t7"]
    assert texts(read.entries(1, "s", after=1 << 53, limit=1)) == []
    assert read.last_seq(1) == 7
    assert read.last_seq(3) == 0


def test_an_entry_comes_back_as_it_was_and_is_encoded_once(store: LiveStore) -> None:
    first = entry(1, "hello", connection=3, line=9)
    add(store, 1, first)
    store.writer.flush()

    [again] = store.reading.entries(1, "s", after=0, limit=10)
    assert again.json == first.json
    assert again.json.startswith(b'{"seq":1,"at":"2026-11-16T12:30:15.250000Z","message":{"type"')
    assert (again.message, again.at, again.connection) == (first.message, NOW, 3)
    frame = again.once("sse", lambda one: b"data: " + one.json)
    assert again.once("sse", lambda one: b"never") is frame
    assert again.json is again.json
    passing = Transient(Text(session_id="s", text="x"), after=4)
    assert passing.json == b'{"message":%b}' % passing.message_json


def test_what_is_told_is_in_the_store_by_then(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def committed(told: list[Any]) -> None:
        with sqlite3.connect(tmp_path / "live.db") as other:
            [(entries,)] = other.execute("SELECT count(*) FROM entries")
            [(lines,)] = other.execute("SELECT count(*) FROM journal")
        other.close()
        seen.extend((entries - each.seq, lines - each.seq) for each in told)

    store = LiveStore(tmp_path, committed=committed)
    for seq in range(1, 301):
        store.add_lines(1, seq, [JournalLine(False, b"{}")], NOW, 2)
        add(store, 1, entry(seq, "x" * seq, connection=1, line=seq))
    store.close()

    assert len(seen) == 300
    assert min(entries for entries, _ in seen) >= 0
    assert min(lines for _, lines in seen) >= 0


def test_things_are_told_in_the_order_in_which_they_were_said(
    store: LiveStore, told: list[Any]
) -> None:
    said: list[Any] = []
    for seq in range(1, 200):
        said += [entry(seq, "x"), Transient(Text(session_id="s", text="p"))]
        add(store, 1, said[-2])
        store.writer.publish(said[-1])
    store.writer.flush()
    store.close()

    assert told == said


def test_sessions_keys_and_approvals_are_kept_over_a_restart(tmp_path: Path) -> None:
    store = LiveStore(tmp_path)
    number = store.new_session()
    store.put_session(number, "s", b"first")
    store.put_session(number, "s", b"second")
    add(store, number, entry(1, "x"), entry(2, "y"))
    store.put_key("k", b"request", "s", NOW)
    store.put_key("k", b"another", "t", NOW)
    store.put_approval("s", "a1", NOW, None)
    store.put_approval("s", "a2", NOW, NOW)
    store.drop_approval("s", "a1")
    connection = store.begin_connection("h", NOW)
    store.close()

    again = LiveStore(tmp_path)
    [session] = again.reading.sessions()
    used = again.reading.key("k")
    numbers = again.new_session(), again.begin_connection("h", NOW)
    waiting, cut_off = again.reading.approvals(), again.reading.cut_off()
    again.close()

    assert session == (number, "s", b"second", 2)
    assert used is not None
    assert used == (b"request", "s")
    assert waiting == [("s", "a2")]
    assert cut_off == [(connection, "h")]
    assert numbers == (number + 1, connection + 1)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such rights")
def test_only_we_may_read_it_whatever_the_umask_says(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    before = os.umask(0)
    try:
        LiveStore(folder).close()
        (folder / "live.db").chmod(0o666)  # as an earlier version left it
        store = LiveStore(folder)
        store.put_session(1, "s", b"{}")
        store.writer.flush()
        rights = {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.glob("live.db*")}
        store.close()
    finally:
        os.umask(before)

    assert set(rights) >= {"live.db", "live.db-wal", "live.db-shm"}
    assert set(rights.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_only_one_program_has_it(store: LiveStore, tmp_path: Path) -> None:
    with pytest.raises(LiveStoreUnusable, match="in use by process"):
        LiveStore(tmp_path)


def test_a_damaged_file_is_moved_aside(tmp_path: Path) -> None:
    (tmp_path / "live.db").write_bytes(b"no database at all" * 100)
    store = LiveStore(tmp_path)
    store.close()
    assert store.note is not None
    assert "live.db.old-1" in store.note


def test_a_damaged_file_keeps_its_log_beside_it(tmp_path: Path) -> None:
    (tmp_path / "live.db").write_bytes(b"no database at all" * 1000)
    (tmp_path / "live.db-wal").write_bytes(b"what was committed last")
    LiveStore(tmp_path).close()
    assert (tmp_path / "live.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "live.db.old-1-wal").read_bytes() == b"what was committed last"


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "live.db") as other:
        other.execute(f"PRAGMA user_version = {VERSION + 1}")
    other.close()
    with pytest.raises(LiveStoreUnusable, match="newer version"):
        LiveStore(tmp_path)
    with pytest.raises(LiveStoreUnusable, match="newer version"):  # and the lock was given back
        LiveStore(tmp_path)


def test_while_it_cannot_be_written_nothing_is_told_and_later_all_of_it(tmp_path: Path) -> None:
    told: list[Any] = []
    failed, came = threading.Event(), threading.Event()

    def committed(things: list[Any]) -> None:
        told.extend(things)
        came.set()

    store = LiveStore(tmp_path, committed=committed, failed=lambda problem: failed.set())
    with sqlite3.connect(tmp_path / "live.db") as other:
        other.execute("ALTER TABLE entries RENAME TO hidden")
    add(store, 1, entry(1, "x"))
    assert failed.wait(5)
    assert told == []
    assert store.writer.problem is not None
    assert not store.writer.flush()

    with other:
        other.execute("ALTER TABLE hidden RENAME TO entries")
    other.close()
    assert came.wait(5)
    assert texts(told) == ["x"]
    store.close()


def test_a_full_queue_holds_up_whoever_hands_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.store.live.writing.MOST_BYTES", 1000)
    store = LiveStore(tmp_path)
    for line in range(1, 500):
        store.add_lines(1, line, [JournalLine(False, b"x" * 400)], NOW, 400)
    store.close()
    assert store.writer.commits > 50


def test_old_lines_are_forgotten_and_old_keys(store: LiveStore) -> None:
    connection = store.begin_connection("h", NOW)
    store.add_lines(connection, 1, [JournalLine(True, b"{}"), JournalLine(False, b"{}")], NOW, 4)
    store.put_key("k", b"", "s", NOW)
    store.writer.flush()
    store.prune(datetime(2026, 11, 17, tzinfo=UTC))
    store.writer.flush()
    assert list(store.reading.lines(connection)) == []
    assert store.reading.key("k") is None


# Checking itself.


def _sound(folder: Path) -> Path:
    """A session with three entries, two of which are of lines."""
    store = LiveStore(folder)
    number, connection = store.new_session(), store.begin_connection("h", NOW)
    store.put_session(number, "s", b"{}")
    store.add_lines(connection, 1, [JournalLine(False, b"one"), JournalLine(False, b"two")], NOW, 6)
    of_lines = [entry(seq, text, connection=1, line=seq) for seq, text in ((1, "one"), (2, "two"))]
    add(store, number, *of_lines, entry(3, "ours"))
    store.close()
    return store.path


def _replay(harness: str, lines: Iterable[JournalLine]) -> Iterator[Message]:
    for number, line in enumerate(lines, 1):
        yield Text(session_id="s", text=line.raw.decode(), line=number)


def test_a_sound_store_has_nothing_wrong_with_it(tmp_path: Path) -> None:
    assert verify(_sound(tmp_path), _replay) == []


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            "DELETE FROM entries WHERE entry_id & 255 = 2",
            "entries are numbered 1 to 3, but there are 2",
        ),
        ("DELETE FROM entries WHERE entry_id & 255 = 1", "its text was not stored"),
        (
            "DELETE FROM journal WHERE line_id & 255 = 1",
            "lines are numbered 2 to 2, but there are 1",
        ),
        (
            "UPDATE entries SET message = '{' WHERE entry_id & 255 = 3",
            "entry 3: not a valid message",
        ),
        ("UPDATE entries SET kind = 'prompt' WHERE entry_id & 255 = 3", "a different kind"),
        (
            "UPDATE journal SET raw = CAST('tow' AS BLOB) WHERE line_id & 255 = 2",
            "does not contain this message",
        ),
        ("DELETE FROM sessions", "entries of unknown session 1"),
        ("DELETE FROM connections", "journal of unknown connection 1"),
        ("PRAGMA user_version = 77", "the store has version 77"),
    ],
)
def test_planted_damage_is_found(tmp_path: Path, damage: str, said: str) -> None:
    path = _sound(tmp_path)
    with sqlite3.connect(path) as other:
        other.execute(damage)
    other.close()
    problems = verify(path, _replay)
    assert any(said in problem for problem in problems), problems


def test_bytes_that_were_written_over_are_found(tmp_path: Path) -> None:
    path = _sound(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    path.write_bytes(data)
    assert verify(path, _replay)
    assert verify(tmp_path / "nowhere.db") == [f"{tmp_path / 'nowhere.db'} does not exist"]


def test_the_newest_of_a_kind_come_first(store: LiveStore) -> None:
    for seq in range(1, 121):
        message = TurnStarted(session_id="s", turn_id=str(seq))
        add(store, 1, Entry("s", seq, NOW, encode(message), message))
    store.writer.flush()
    found = [each.message.turn_id for each in store.reading.of_kind(1, "s", "turn_started")]
    assert found == [str(seq) for seq in range(120, 0, -1)]
