"""A damaged write-ahead log hides committed data without an error: verifying and opening report it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dragoman.model.messages import Text, encode
from dragoman.store.live import log
from dragoman.store.live.checking import verify
from dragoman.store.live.entries import Entry
from dragoman.store.live.store import LiveStore

NOW = datetime(2026, 11, 16, 12, 30, 15, tzinfo=UTC)
FRAME = 24 + 4096
Damage = Callable[[bytearray], None]


@pytest.fixture(autouse=True)
def looked_at_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing writes the logs of these tests, so there is nothing to wait for."""
    monkeypatch.setattr(log, "_PAUSE", 0)


def killed(folder: Path, *, index: bool = True) -> Path:
    """A copy of a store in use, as a killed process leaves it."""
    store = LiveStore(folder / "used")
    store.put_session(store.new_session(), "s", b"{}")
    for seq in range(1, 21):
        message = Text(session_id="s", text=f"t{seq} " * 50)
        store.add_entry(1, Entry("s", seq, NOW, encode(message), message, 0), None)
        store.writer.flush()
    assert verify(store.path) == []  # it can be in use
    shutil.copytree(folder / "used", folder / "killed")
    store.close()
    path = folder / "killed" / "live.db"
    if not index:
        path.with_name("live.db-shm").unlink()
    return path


def log_of(path: Path) -> Path:
    return path.with_name("live.db-wal")


def flip(place: int) -> Damage:
    def damage(data: bytearray) -> None:
        data[place] ^= 1

    return damage


def cut(data: bytearray) -> None:
    del data[-FRAME // 2 :]


def flip_last(data: bytearray) -> None:
    data[-100] ^= 1


DAMAGE = {
    "a page in the middle": flip(32 + 10 * FRAME + 24 + 99),
    "a frame's header": flip(32 + 10 * FRAME + 9),
    "the header": flip(17),
    "the first page": flip(32 + 24 + 5),
    "the last page": flip_last,
}


@pytest.mark.parametrize("index", [True, False], ids=["killed", "power failure"])
def test_a_log_that_was_only_cut_off_is_sound(tmp_path: Path, index: bool) -> None:
    path = killed(tmp_path, index=index)
    with log_of(path).open("ab") as file:
        file.write(b"\x01" * (FRAME + 100))  # the beginning of a transaction that never ended

    assert verify(path) == []
    assert verify(path) == []
    store = LiveStore(path.parent)
    assert store.note is None
    assert store.reading.last_seq(1) == 20
    store.close()
    assert verify(path) == []


@pytest.mark.parametrize("index", [True, False], ids=["killed", "power failure"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_in_the_log_is_reported(tmp_path: Path, damage: Damage, index: bool) -> None:
    path = killed(tmp_path, index=index)
    data = bytearray(log_of(path).read_bytes())
    damage(data)
    log_of(path).write_bytes(data)

    for _ in range(2):  # checking does not change it
        problems = verify(path)
        assert any("the log is damaged" in each for each in problems), problems
    store = LiveStore(path.parent)
    try:
        assert store.note is not None
        assert "the log is damaged" in store.note
        [copy] = path.parent.glob("live.db-wal.old-*")
        assert copy.name in store.note
        assert copy.read_bytes() == data
    finally:
        store.close()
    store = LiveStore(path.parent)
    assert store.note is None
    store.close()


def test_a_log_that_was_cut_is_reported_while_its_index_is_there(tmp_path: Path) -> None:
    path = killed(tmp_path)
    data = bytearray(log_of(path).read_bytes())
    cut(data)
    log_of(path).write_bytes(data)

    assert any("the log is damaged" in each for each in verify(path))


def test_verifying_leaves_the_log_as_it_is(tmp_path: Path) -> None:
    path = killed(tmp_path)
    before = log_of(path).read_bytes()

    assert verify(path) == []
    assert log_of(path).read_bytes() == before
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (20,)
    connection.close()
