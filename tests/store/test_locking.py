from __future__ import annotations

import os
from pathlib import Path

from dragoman.store.locking import WriterLock


def test_only_one_has_the_lock(tmp_path: Path) -> None:
    one, other = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock")

    assert one.acquire()
    assert one.acquire()  # it is ours already
    assert not other.acquire()
    assert other.holder() == os.getpid()

    one.release()
    assert other.acquire()
    other.release()


def test_waiting_ends_when_the_other_one_is_done(tmp_path: Path) -> None:
    one, other = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock")
    one.acquire()

    assert other.acquire(wait_seconds=5, sleep=lambda _: one.release())
    other.release()


def test_without_a_file_there_is_nobody_to_wait_for() -> None:
    lock = WriterLock(None)

    assert lock.acquire()
    assert lock.holder() is None
    lock.release()


def test_a_lock_file_full_of_nonsense_names_nobody(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b"\xff\xfe nonsense")

    assert WriterLock(tmp_path / "lock").holder() is None


def test_the_holder_says_how_far_it_has_come(tmp_path: Path) -> None:
    one, other = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock")
    one.acquire()
    one.publish((17, 2000, 123456, 987654321))
    one.publish((18, 2000, 1, 2))

    assert other.progress() == (18, 2000, 1, 2)
    assert other.holder() == os.getpid()
    other.publish((1, 1, 1, 1))  # it has nothing to say
    assert other.progress() == (18, 2000, 1, 2)
    one.release()
