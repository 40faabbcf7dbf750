from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from dragoman.archive.api import SessionArchive, archive
from dragoman.archive.index.updating import Indexer
from dragoman.errors import UsageError
from dragoman.model.usage import Usage
from dragoman.reading import writers
from support.archive.index_rows import index_here
from support.archive.saved_sessions import Rows, save, session_id, simple


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def opened(home: Path, tmp_path: Path) -> Iterator[SessionArchive]:
    with SessionArchive(home=home, cache=tmp_path / "cache") as made:
        yield made


def test_everything_in_one_call(home: Path, tmp_path: Path) -> None:
    save(home, 1, simple(1))

    with archive(home=home, cache=tmp_path / "cache") as made:
        [session] = made.sessions()

    assert session.id == session_id(1)
    assert session.usage == Usage(100, 0, 0, 10, 0)
    assert session.as_dict()["tokens"]["input_tokens"] == 100
    assert session.as_dict()["project"] == "/work/app"
    assert "please hello" in repr(session)


def test_an_id_may_be_shortened_as_long_as_it_is_the_only_one(
    home: Path, opened: SessionArchive
) -> None:
    save(home, 1, simple(1))
    save(home, 2, simple(2))
    opened.index()

    assert opened.get(session_id(1)[:13]).id == session_id(1)
    with pytest.raises(UsageError, match="matches 2 sessions"):
        opened.get("01a1e150")
    with pytest.raises(UsageError, match="no session 'nonsense'"):
        opened.get("nonsense")
    with pytest.raises(UsageError, match="no session ''"):
        opened.get("")


def test_a_session_goes_by_its_name_where_only_one_has_it(
    home: Path, opened: SessionArchive
) -> None:
    save(home, 1, simple(1, ("fix the parser",)))
    save(home, 2, simple(2, ("fix the lexer",)))
    save(home, 3, simple(3, ("Fix the lexer",)))
    opened.index()
    title = opened.get(session_id(1)).title
    assert title is not None

    assert opened.get(title.upper()).id == session_id(1)
    assert opened.get(f"{title[:-2]}…").id == session_id(1)
    assert opened.has(title)
    assert not opened.has(title, exactly=True)
    with pytest.raises(UsageError, match="matches 2 sessions"):
        opened.get(str(opened.get(session_id(2)).title))
    for nothing in ("…", " "):
        with pytest.raises(UsageError, match="no session"):
            opened.get(nothing)


def test_the_last_session_is_the_one_in_which_something_was_said_last(
    home: Path, opened: SessionArchive
) -> None:
    with pytest.raises(UsageError, match="no sessions"):
        opened.last()
    save(home, 2, Rows(2, cwd="/work/b").begin("hello").data)
    save(home, 1, Rows(1, cwd="/work/a").begin("hello").data)
    opened.index()

    assert opened.last().id == session_id(2)
    assert opened.last(project="/work/a").id == session_id(1)
    with pytest.raises(UsageError, match="no sessions for /nowhere"):
        opened.last(project="/nowhere")


def test_a_session_without_usage_is_not_one_that_spent_nothing(
    home: Path, opened: SessionArchive
) -> None:
    save(home, 1, Rows(1).begin("hello").data)
    opened.index()
    [session] = opened.sessions()

    assert session.usage is None
    assert session.tokens is None
    assert session.as_dict()["tokens"] is None


def test_an_open_turn_is_running_while_a_program_writes_its_file(
    home: Path, opened: SessionArchive
) -> None:
    path = save(home, 1, Rows(1).begin("hello").run("sleep", "").data)
    opened.index()
    with path.open("ab"):
        assert opened.sessions()[0].state == "running"
    assert opened.sessions()[0].state == "open"


def _nobody_knows(_path: str, _state: os.stat_result) -> None:
    return None


def test_where_nobody_can_tell_a_file_that_was_written_lately_is_being_written(
    home: Path, opened: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "is_written", _nobody_knows)
    path = save(home, 1, Rows(1).begin("hello").run("sleep", "").data)
    opened.index()
    assert opened.sessions()[0].state == "running"

    old = time.clock_gettime(time.CLOCK_REALTIME) - 3600
    os.utime(path, (old, old))
    opened.index()
    assert opened.sessions()[0].state == "open"


def test_the_tokens_of_an_open_turn_are_counted(home: Path, opened: SessionArchive) -> None:
    rows = Rows(1).begin("one").say("x").spend(100).end().begin("two").spend(100)
    save(home, 1, rows.data)
    opened.index()
    [session] = opened.sessions()
    assert (session.state, session.tokens) == ("open", 220)


def test_a_session_in_which_nothing_was_asked_is_empty(home: Path, opened: SessionArchive) -> None:
    save(home, 1, Rows(1).data)
    opened.index()

    assert [session.state for session in opened.sessions()] == ["empty"]


def test_files_given_by_hand_have_an_index_of_their_own(tmp_path: Path, runs: Path) -> None:
    captures = sorted(runs.rglob("*.jsonl"))[:30]
    assert captures

    with SessionArchive(paths=captures, cache=tmp_path / "cache") as made:
        report = made.index()
        assert report is not None
        assert made.sessions()
        assert made.folders == [str(path) for path in captures]


def test_a_damaged_index_is_built_anew(home: Path, opened: SessionArchive, tmp_path: Path) -> None:
    for number in range(20):
        save(home, number, simple(number, ["words"] * 20))
    opened.index()
    file = Path(opened.index_folder) / "index.sqlite3"
    opened.close()
    content = bytearray(file.read_bytes())
    content[8192:-4096] = b"\x99" * (len(content) - 12288)
    file.write_bytes(content)
    save(home, 30, simple(30))

    with SessionArchive(home=home, cache=tmp_path / "cache") as again:
        again.index()
        assert again.note is not None
        assert "being rebuilt" in again.note
        assert len(again.sessions()) == 21


def test_an_index_without_its_tables_is_built_anew(
    home: Path, opened: SessionArchive, tmp_path: Path
) -> None:
    save(home, 1, simple(1))
    opened.index()
    opened._database.write("DROP TABLE folders")

    opened.index()

    assert opened.note is not None
    assert len(opened.sessions()) == 1


def test_an_index_in_memory_is_as_good_as_long_as_it_lasts(home: Path, tmp_path: Path) -> None:
    save(home, 1, simple(1))
    (tmp_path / "file").write_bytes(b"")

    with SessionArchive(home=home, cache=tmp_path / "file" / "cache") as made:
        made.index()
        assert made.note is not None
        assert len(made.sessions()) == 1
        assert made.search("hello").hits


def test_one_session_of_a_large_archive_is_not_kept_waiting_for_the_rest(
    home: Path, opened: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        save(home, number, simple(number))

    opened.prepare(session_id(3))
    assert [session.id for session in opened.sessions()] == [session_id(3)]
    assert opened.has(session_id(3)[:13])
    assert not opened.has(session_id(3)[:13], exactly=True)
    assert opened.has(session_id(3), exactly=True)

    opened.prepare("not in any name")
    assert len(opened.sessions()) == 1
    assert not opened.has("not in any name")


def test_a_list_is_final_when_what_is_left_is_older(
    home: Path, opened: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        rows = Rows(number).turn("x", "y")
        path = save(home, number, rows.data)
        os.utime(path, (rows.at.timestamp(), rows.at.timestamp()))
    index_here(monkeypatch)
    opened.begin_index()
    files = sorted(opened.find(), key=lambda each: each.mtime_ns, reverse=True)
    is_final: list[bool] = []
    for count in range(7):
        Indexer(opened._database).run(files[:count], are_all=False)
        assert len(opened.sessions()) == count
        is_final.append(opened.is_final(opened.sessions(limit=2), limit=2))

    assert is_final == [False, False, True, True, True, True, True]
    assert [each.id for each in opened.sessions(limit=2)] == [session_id(5), session_id(4)]


def test_a_list_since_some_time_is_final_when_all_since_are_read(
    home: Path, opened: SessionArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        rows = Rows(number).turn("x", "y")
        os.utime(save(home, number, rows.data), (rows.at.timestamp(), rows.at.timestamp()))
    index_here(monkeypatch)
    opened.begin_index()
    newest = max(opened.find(), key=lambda each: each.mtime_ns)
    Indexer(opened._database).run([newest], are_all=False)
    [session] = opened.sessions()

    assert opened.is_final([session], limit=None, since=session.last_at)
    assert not opened.is_final([session], limit=None, since=session.last_at - 7200)
    assert not opened.is_final([session], limit=None)


def test_a_list_with_a_session_that_was_removed_is_not_final(
    home: Path, opened: SessionArchive
) -> None:
    paths = [save(home, number, simple(number)) for number in range(2)]
    opened.index()
    listed = opened.sessions()
    assert opened.is_final(listed, limit=2)
    paths[0].unlink()
    opened.prepare(session_id(1))
    opened._keeper._found = opened.find()

    assert not opened.is_final(listed, limit=2)


def test_the_index_of_another_program_version_is_looked_at_again(
    home: Path, opened: SessionArchive
) -> None:
    save(home, 1, simple(1))
    opened.index()
    opened._database.set_fact("program", "0.0.0")

    assert opened.index() is None
    assert opened._database.fact("program") != "0.0.0"


def test_a_mark_stays_until_the_index_is_another(home: Path, opened: SessionArchive) -> None:
    save(home, 1, simple(1))
    opened.index()
    for folder in home.glob("**/"):
        os.utime(folder, (0, 0))  # one that has changed just now is looked at again
    opened.index()
    before = opened.mark()
    opened.index()
    assert opened.mark() == before
    save(home, 2, simple(2))
    opened.index()
    assert opened.mark() != before


def test_the_public_name_is_a_package_that_can_be_called(home: Path, tmp_path: Path) -> None:
    package = cast("Callable[..., SessionArchive]", importlib.import_module("dragoman.archive"))

    with package(home=home, cache=tmp_path / "cache") as made:
        assert made.sessions() == []
