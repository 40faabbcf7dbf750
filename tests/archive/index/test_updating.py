"""The index stays in step with the disk, whatever happens to the files or to us."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.index.updating import Progress
from dragoman.model.messages import Prompt, TurnStarted
from dragoman.reading import file_lines
from dragoman.store.database import IndexUnusable
from dragoman.store.entries import Entries
from support.agents.powers import no_power_over_files
from support.archive.index_rows import fresh, rows_of
from support.archive.saved_sessions import Rows, save, simple

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def archive(home: Path, tmp_path: Path) -> Iterator[SessionArchive]:
    with SessionArchive(home=home, cache=tmp_path / "cache") as opened:
        yield opened


def found(archive: SessionArchive, query: str) -> int:
    return len(archive.search(query).hits)


def test_what_is_there_is_indexed_once(home: Path, archive: SessionArchive) -> None:
    save(home, 1, simple(1, ["apples", "pears"]))

    first = archive.index()
    second = archive.index()

    assert first is not None
    assert first.new == 1
    assert second is None
    [session] = archive.sessions()
    assert (session.title, session.turn_count, session.state) == ("please apples", 2, "completed")
    assert session.tokens == 220
    assert found(archive, "pears") == 4


def test_reading_on_gives_the_same_as_reading_anew(
    home: Path, archive: SessionArchive, tmp_path: Path
) -> None:
    data = simple(1, ["one", "two", "three", "four"])
    path = save(home, 1, b"")
    chance = random.Random(4)
    for cut in [*sorted(chance.sample(range(1, len(data)), 12)), len(data)]:
        path.write_bytes(data[:cut])
        archive.index()

        assert rows_of(archive) == fresh(home, tmp_path)


def test_real_session_files_that_grow_are_read_on_rightly(
    data: Path, home: Path, archive: SessionArchive, tmp_path: Path
) -> None:
    for number, wire in enumerate(sorted(data.glob("codex/codex-rollout*/*/wire.jsonl"))):
        whole = wire.read_bytes()
        save(home, number, whole[: len(whole) * 2 // 3])
    archive.index()
    for number, wire in enumerate(sorted(data.glob("codex/codex-rollout*/*/wire.jsonl"))):
        save(home, number, wire.read_bytes())
    archive.index()

    assert rows_of(archive) == fresh(home, tmp_path)


def test_an_appended_row_costs_its_turn_and_not_the_file(
    home: Path, archive: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[int] = []
    for turns in (20, 2000):
        rows = Rows(turns)
        for number in range(turns):
            rows.turn(f"turn {number}", "done", ("echo", "word " * 100))
        path = save(home, turns, rows.data)
        archive.index()
        read = 0

        def counted(
            file: Any, offset: int, real: Any = file_lines.plain_lines
        ) -> Iterator[file_lines.LineBatch]:
            nonlocal read
            for piece in real(file, offset):
                read += piece.starts[-1] - piece.starts[0]
                yield piece

        monkeypatch.setattr("dragoman.archive.index.file.plain_lines", counted)
        with path.open("ab") as file:
            file.write(Rows(turns).say(f"zebra{turns}").data.split(b"\n", 1)[1])
        report = archive.index()
        monkeypatch.undo()

        assert report is not None
        assert (report.grown, report.new) == (1, 0)
        assert found(archive, f"zebra{turns}") == 1
        assert report.bytes_read == read
        costs.append(read)
    assert path.stat().st_size > 50 * costs[1]
    assert costs[1] < 2 * costs[0]


def test_a_torn_last_line_is_read_when_it_is_whole(home: Path, archive: SessionArchive) -> None:
    data = simple(1, ["early"]) + Rows(1).say("late words").data.split(b"\n", 1)[1]
    path = save(home, 1, data[:-30])
    archive.index()
    assert found(archive, "late") == 1  # the event is whole, the response item is not

    path.write_bytes(data)
    archive.index()

    assert found(archive, "late") == 1


def test_a_moved_file_is_the_same_file(home: Path, archive: SessionArchive) -> None:
    path = save(home, 1, simple(1))
    archive.index()
    target = home / "archived_sessions" / path.name
    target.parent.mkdir()
    path.rename(target)

    report = archive.index()

    assert report is not None
    assert (report.moved, report.new, report.vanished, report.bytes_read) == (1, 0, 0, 0)
    [session] = archive.sessions()
    assert session.archived
    assert session.path == str(target)
    assert found(archive, "hello") == 4


def test_a_vanished_file_is_forgotten(home: Path, archive: SessionArchive) -> None:
    path = save(home, 1, simple(1, ["gone"]))
    save(home, 2, simple(2, ["here"]))
    archive.index()
    path.unlink()

    report = archive.index()

    assert report is not None
    assert report.vanished == 1
    assert [session.title for session in archive.sessions()] == ["please here"]
    assert found(archive, "gone") == 0
    assert found(archive, "please") == 1


@pytest.mark.parametrize(
    "new",
    [simple(1, ["newest"]), simple(1, ["newest", "and", "a", "few", "more"])],
    ids=["shorter", "longer"],
)
def test_a_replaced_file_is_read_anew(
    home: Path, archive: SessionArchive, tmp_path: Path, new: bytes
) -> None:
    path = save(home, 1, simple(1, ["older", "words"]))
    archive.index()
    path.write_bytes(new)

    report = archive.index()

    assert report is not None
    assert report.replaced == 1
    assert found(archive, "older") == 0
    assert found(archive, "newest") == 4
    assert rows_of(archive)[:2] == fresh(home, tmp_path)[:2]


def test_a_file_that_was_cut_off_is_read_anew(home: Path, archive: SessionArchive) -> None:
    data = simple(1, ["first", "second"])
    path = save(home, 1, data)
    archive.index()
    path.write_bytes(data[: data.index(b"please second") - 400])

    archive.index()

    assert (found(archive, "first"), found(archive, "second")) == (4, 0)


def test_a_file_that_was_only_touched_is_not_read(home: Path, archive: SessionArchive) -> None:
    path = save(home, 1, simple(1))
    archive.index()
    os.utime(path, (1, 1))

    assert archive.index() is None
    assert archive._database.row("SELECT mtime_ns FROM files")[0] == 1_000_000_000


def test_compressed_files_are_indexed(home: Path, archive: SessionArchive) -> None:
    save(home, 1, zstd.compress(simple(1, ["squeezed"])), suffix=".jsonl.zst")

    archive.index()

    [hit, *_] = archive.search("squeezed", limit=1).hits
    assert hit.snippet is not None
    assert "squeezed" in hit.snippet.text
    assert archive.index() is None
    [session] = archive.sessions()
    assert [type(message) for message in session.turn(1)][:2] == [TurnStarted, Prompt]


def test_real_session_files_tell_the_same_when_they_are_compressed(
    runs: Path, archive: SessionArchive, home: Path
) -> None:
    wires = sorted(runs.glob("0.1*/*rollout.jsonl"))
    for number, wire in enumerate(wires):
        save(home, number, wire.read_bytes())
    archive.index()
    plain = {each.id: each.as_dict() for each in archive.sessions()}
    for number, wire in enumerate(wires):
        save(home, number, wire.read_bytes()).unlink()
        save(home, number, zstd.compress(wire.read_bytes()), suffix=".jsonl.zst")
    archive.index()
    packed = {each.id: each.as_dict() for each in archive.sessions()}

    assert len(plain) > 20
    for each in (*plain.values(), *packed.values()):
        del each["path"]
    assert packed == plain


def test_what_is_no_session_is_left_alone(home: Path, archive: SessionArchive) -> None:
    path = save(home, 1, b'{"name": "something else"}\nnot even JSON\n')
    path.with_name("empty.jsonl").write_bytes(b"")

    report = archive.index()

    assert report is not None
    assert report.unreadable == ()
    assert archive.sessions() == []
    assert archive.index() is None


def test_a_file_that_may_not_be_read_is_named(home: Path, archive: SessionArchive) -> None:
    save(home, 1, simple(1)).chmod(0)
    save(home, 2, simple(2))

    with no_power_over_files():
        report = archive.index()

    assert report is not None
    assert [why for _, why in report.unreadable] == ["Permission denied"]
    assert len(archive.sessions()) == 1


def test_a_file_that_is_put_away_under_us_is_no_trouble(
    home: Path, archive: SessionArchive
) -> None:
    path = save(home, 1, simple(1))
    save(home, 2, simple(2))
    found_then = archive.find()
    path.unlink()

    from dragoman.archive.index.updating import Indexer

    report = Indexer(archive._database).run(found_then)

    assert report.unreadable == ()
    assert len(archive.sessions()) == 1


def test_progress_is_told(home: Path, archive: SessionArchive) -> None:
    save(home, 1, simple(1))
    told: list[Progress] = []

    archive.index(told.append)

    assert told[-1].files == told[-1].all_files == 1
    assert told[-1].bytes == told[-1].all_bytes > 0


_INDEX = """
import sys
from dragoman.archive.api import SessionArchive
print("ready", flush=True)
SessionArchive(home=sys.argv[1], cache=sys.argv[2]).index(wait_seconds=30)
"""


def _indexer(home: Path, cache: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _INDEX, str(home), str(cache)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_killed_at_any_time_it_goes_on_and_nothing_is_lost_or_doubled(
    home: Path, tmp_path: Path
) -> None:
    for number in range(12):
        words = [f"word{number} {'more ' * 20}" for _ in range(60)]
        save(home, number, simple(number, words))
    cache = tmp_path / "cache"
    killed = 0
    for delay in (0.02, 0.1, 0.2, 0.3, 0.4):
        process = _indexer(home, cache)
        assert process.stdout is not None
        with process.stdout:
            process.stdout.readline()
            time.sleep(delay)  # wherever that is: it must not matter
            process.send_signal(signal.SIGKILL)
        killed += process.wait(10) == -signal.SIGKILL

    with SessionArchive(home=home, cache=cache) as archive:
        archive.index()
        assert rows_of(archive) == fresh(home, tmp_path)
        assert archive._database.row("PRAGMA integrity_check")[0] == "ok"
    assert killed


def test_two_indexers_at_once_come_to_one_result(home: Path, tmp_path: Path) -> None:
    for number in range(8):
        save(home, number, simple(number, [f"word{number}"] * 30))
    cache = tmp_path / "cache"
    processes = [_indexer(home, cache) for _ in range(2)]
    for process in processes:
        assert process.stdout is not None
        with process.stdout:
            assert process.wait(60) == 0

    with SessionArchive(home=home, cache=cache) as archive:
        assert archive.index() is None
        assert rows_of(archive) == fresh(home, tmp_path)


def test_whoever_finds_another_indexer_at_work_reads_what_there_is(
    home: Path, archive: SessionArchive, tmp_path: Path
) -> None:
    save(home, 1, simple(1))
    archive.index()
    save(home, 2, simple(2))

    with SessionArchive(home=home, cache=tmp_path / "cache") as other:
        assert other._database.lock.acquire()
        report = archive.index(wait_seconds=0)

    assert report is not None
    assert report.waited_for == os.getpid()
    assert len(archive.sessions()) == 1


def test_a_full_disk_is_said_in_a_sentence_and_nothing_is_broken(
    home: Path, archive: SessionArchive
) -> None:
    save(home, 1, simple(1))
    archive.index()
    save(home, 2, simple(2, [f"{number} {'words ' * 500}" for number in range(200)]))
    pages = archive._database.row("PRAGMA page_count")[0]
    archive._database.row(f"PRAGMA max_page_count = {pages + 4}")

    with pytest.raises(IndexUnusable, match="disk is full"):
        archive.index()

    assert len(archive.sessions()) == 1
    archive._database.row("PRAGMA max_page_count = 1000000")
    archive.index()
    assert len(archive.sessions()) == 2


def test_many_files_that_went_away_leave_no_words_behind(
    home: Path, archive: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.archive.index.updating._TIDY_ENTRIES", 3)
    paths = [save(home, number, simple(number, ["secretword"])) for number in range(4)]
    archive.index()
    for path in paths[1:]:
        path.unlink()
    archive.index()
    save(home, 9, simple(9, ["other"]))

    archive.index()

    count = archive._database.row("SELECT count(*) FROM texts WHERE texts MATCH 'secretword'")[0]
    assert count == 4


def test_a_new_row_is_indexed_without_counting_all_others(
    home: Path, archive: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(home, 1, simple(1, ["apples"]))
    archive.index()
    monkeypatch.delattr(Entries, "count")  # a count reads the whole table
    path.write_bytes(simple(1, ["apples", "pears"]))

    report = archive.index()

    assert report is not None
    assert report.grown == 1
    assert found(archive, "pears") == 4
