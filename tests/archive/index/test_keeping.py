"""The index comes up to date: here, beside us, or by another program; whatever happens meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.index.background import IndexProcess
from dragoman.archive.index.updating import Progress
from dragoman.store.database import IndexUnusable, open_database
from dragoman.store.entries import Entries
from dragoman.store.locking import WriterLock
from support.archive.index_rows import fresh, index_here, rows_of
from support.archive.saved_sessions import Rows, save, session_id, simple

PATIENCE = 200
"""Steps of a tenth of a second."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for number in range(6):
        words = [f"word{number} {'more ' * 20}" for _ in range(40)]
        save(tmp_path / "home", number, simple(number, words))
    return tmp_path / "home"


@pytest.fixture
def archive(home: Path, tmp_path: Path) -> Iterator[SessionArchive]:
    with SessionArchive(home=home, cache=tmp_path / "cache") as opened:
        yield opened


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is done here: there is always something left for others."""
    monkeypatch.setattr("dragoman.archive.index.keeping._MOMENT_SECONDS", 0.0)
    monkeypatch.setattr("dragoman.archive.index.updating._LITTLE", -1)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """There can be no process beside us."""
    index_here(monkeypatch)


def wait(archive: SessionArchive) -> list[Progress]:
    """Wait until the index is up to date; what was told meanwhile."""
    told: list[Progress] = []
    while (progress := archive.wait_index(0.1)) is not None:
        told.append(progress)
        assert len(told) < PATIENCE
    return told


def background(archive: SessionArchive) -> IndexProcess:
    found = archive._keeper._background
    assert found is not None
    return found


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_little_is_done_at_once(
    home: Path, archive: SessionArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.archive.index.keeping._MOMENT_SECONDS", 60.0)

    assert archive.begin_index() is None
    assert archive.wait_index(0.0) is None
    assert archive._keeper._background is None
    assert rows_of(archive) == fresh(home, tmp_path)


@pytest.mark.usefixtures("at_once")
def test_much_is_done_by_a_process_beside_us(
    home: Path, archive: SessionArchive, tmp_path: Path
) -> None:
    first = archive.begin_index()

    assert first is not None
    assert (first.files, first.all_files) == (0, 6)
    pid = background(archive).pid
    wait(archive)
    assert rows_of(archive) == fresh(home, tmp_path)
    assert not is_running(pid)
    assert archive.begin_index() is None
    assert archive.troubles() == []


@pytest.mark.usefixtures("at_once")
def test_closing_ends_the_process_and_the_next_one_goes_on(home: Path, tmp_path: Path) -> None:
    ended: list[int] = []
    for seconds in (0.0, 0.1, 0.2):
        with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
            archive.begin_index()
            if ended and archive._keeper._background is None:
                break  # the one before was quick, and has left nothing
            ended.append(background(archive).pid)
            archive.wait_index(seconds)
        assert not is_running(ended[-1])

    with SessionArchive(home=home, cache=tmp_path / "cache") as archive:
        archive.begin_index()
        wait(archive)
        assert rows_of(archive) == fresh(home, tmp_path)
        assert archive._database.row("PRAGMA integrity_check")[0] == "ok"


@pytest.mark.usefixtures("at_once")
def test_a_process_that_is_killed_is_not_missed(
    home: Path, archive: SessionArchive, tmp_path: Path
) -> None:
    archive.begin_index()
    with suppress(ProcessLookupError):  # it was quicker than we are
        os.kill(background(archive).pid, signal.SIGKILL)

    wait(archive)

    assert rows_of(archive) == fresh(home, tmp_path)
    assert archive.troubles() == []


@pytest.mark.usefixtures("at_once", "alone")
def test_without_another_process_it_is_done_here_step_by_step(
    home: Path, archive: SessionArchive, tmp_path: Path
) -> None:
    assert archive.begin_index() is not None

    wait(archive)

    assert rows_of(archive) == fresh(home, tmp_path)


@pytest.mark.usefixtures("at_once")
def test_an_index_in_memory_is_built_here_step_by_step(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with SessionArchive(home=home, cache=tmp_path / "file" / "cache") as archive:
        assert archive.begin_index() is not None
        assert archive._keeper._background is None

        wait(archive)

        assert rows_of(archive) == fresh(home, tmp_path)
        assert ["in memory" in each for each in archive.troubles()] == [True]


def test_the_work_of_another_program_is_waited_for_and_then_finished(
    home: Path, archive: SessionArchive, tmp_path: Path
) -> None:
    lock = WriterLock(f"{archive._database.path}.lock")
    assert lock.acquire()
    lock.publish((2, 6, 20, 60))

    assert archive.begin_index() == Progress(2, 6, 20, 60)
    lock.publish((3, 6, 30, 60))
    assert archive.wait_index(0.0) == Progress(3, 6, 30, 60)
    assert archive.sessions() == []
    lock.release()
    wait(archive)

    assert rows_of(archive) == fresh(home, tmp_path)


@pytest.mark.usefixtures("at_once")
def test_an_index_that_is_deleted_meanwhile_is_built_anew(
    home: Path, archive: SessionArchive, tmp_path: Path
) -> None:
    archive.begin_index()
    shutil.rmtree(archive.index_folder)
    wait(archive)
    shutil.rmtree(archive.index_folder, ignore_errors=True)

    archive.begin_index()
    wait(archive)

    assert rows_of(archive) == fresh(home, tmp_path)
    with SessionArchive(home=home, cache=tmp_path / "cache") as other:
        assert other.begin_index() is None
        assert len(other.sessions()) == 6


def test_what_went_wrong_is_said_once_and_the_rest_can_be_used(
    home: Path, archive: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.index()
    save(home, 9, simple(9))

    def full(*_: object, **__: object) -> None:
        raise IndexUnusable("the disk is full: the index could not be written")

    monkeypatch.setattr("dragoman.archive.index.updating.Indexer.run", full)

    assert archive.begin_index() is None
    [sentence] = archive.troubles()
    assert sentence.startswith("the disk is full")
    assert archive.troubles() == []
    assert len(archive.sessions()) == 6


def test_files_that_cannot_be_read_are_named(home: Path, archive: SessionArchive) -> None:
    folder = next(home.rglob("*.jsonl")).parent
    for number in range(7):
        (folder / f"rollout-{number}.jsonl").mkdir()

    archive.begin_index()
    wait(archive)

    told = archive.troubles()
    assert len(told) == 6
    assert told[0].startswith(f"cannot read {folder}")
    assert told[-1] == "cannot read 2 more files"
    assert len(archive.sessions()) == 6


def test_one_session_is_prepared_with_what_it_goes_on_from(
    home: Path, archive: SessionArchive
) -> None:
    parent = Rows(20).turn("first", "one")
    save(home, 20, parent.data)
    base = {"thread_id": parent.id, "end_byte_offset": len(parent.data)}
    save(home, 21, Rows(21, history_base=base).turn("second", "two").data)

    archive.prepare(session_id(21))

    assert {each.id for each in archive.sessions()} == {session_id(20), session_id(21)}
    assert not archive.get(session_id(21)).is_missing_its_base


def test_one_session_can_be_had_when_the_disk_is_full(
    home: Path, archive: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.index()
    save(home, 9, simple(9))
    real = Entries.add

    def full(entries: Entries, *given: Any, **more: Any) -> None:
        if entries._database.path is not None:
            raise IndexUnusable("the disk is full: the index could not be written")
        real(entries, *given, **more)

    monkeypatch.setattr(Entries, "add", full)

    archive.prepare(session_id(9))

    assert archive.get(session_id(9)).turn_count == 1
    [sentence] = archive.troubles()
    assert sentence.startswith("the disk is full")


def test_a_name_that_many_have_prepares_nothing(home: Path, archive: SessionArchive) -> None:
    for number in range(10, 20):
        save(home, number, simple(number))

    archive.prepare(session_id(1)[:8])

    assert archive.sessions() == []


def test_one_session_can_be_had_while_another_program_indexes(
    home: Path, archive: SessionArchive
) -> None:
    lock = WriterLock(f"{archive._database.path}.lock")
    assert lock.acquire()

    archive.prepare(session_id(3))

    assert len(archive.get(session_id(3)).turns()) == 40
    assert archive.begin_index() is None  # that is the other one's business
    lock.release()
    database = open_database(archive.index_folder)
    assert database.row("SELECT count(*) FROM files")[0] == 0
    database.close()
