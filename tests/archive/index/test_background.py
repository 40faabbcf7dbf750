"""The process that indexes: told where, dying with us, saying what came of it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.index import background
from dragoman.archive.places import ArchivePlace
from support.agents.orphans import is_gone_with, needs_linux
from support.archive.index_rows import fresh, rows_of
from support.archive.saved_sessions import save, simple

SECONDS = 20.0


def test_it_finds_the_same_sessions_whatever_they_are_called(tmp_path: Path) -> None:
    odd = tmp_path / "home-\udcff"  # a name that is not UTF-8
    save(odd, 1, simple(1, ["odd"]))
    started = background.start(ArchivePlace.of(odd, (), tmp_path / "cache", {}))
    assert started is not None

    outcome = started.wait(SECONDS)

    assert outcome is not None
    assert (outcome.has_answered, outcome.problem, outcome.report.unreadable) == (True, None, ())
    with SessionArchive(home=odd, cache=tmp_path / "cache") as archive:
        assert archive.index() is None
        assert rows_of(archive) == fresh(odd, tmp_path)


def test_what_it_could_not_do_is_said(tmp_path: Path) -> None:
    path = save(tmp_path / "home", 1, simple(1))
    path.with_name("rollout-folder.jsonl").mkdir()
    started = background.start(ArchivePlace.of(tmp_path / "home", (), tmp_path / "cache", {}))
    assert started is not None
    outcome = started.wait(SECONDS)
    assert outcome is not None
    assert [os.path.basename(name) for name, _ in outcome.report.unreadable] == [
        "rollout-folder.jsonl"
    ]

    (tmp_path / "file").write_text("in the way")
    started = background.start(
        ArchivePlace.of(tmp_path / "home", (), tmp_path / "file" / "cache", {})
    )
    assert started is not None
    outcome = started.wait(SECONDS)
    assert outcome is not None
    assert outcome.problem is not None
    assert "cannot be kept" in outcome.problem


def test_one_that_is_gone_without_a_word_is_noticed(tmp_path: Path) -> None:
    save(tmp_path / "home", 1, simple(1))
    started = background.start(ArchivePlace.of(tmp_path / "home", (), tmp_path / "cache", {}))
    assert started is not None
    os.kill(started.pid, signal.SIGKILL)

    outcome = started.wait(SECONDS)

    assert outcome is not None
    assert not outcome.has_answered


def test_where_there_is_no_interpreter_there_is_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ArchivePlace.of(tmp_path, (), tmp_path, {})
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert background.start(place) is None
    monkeypatch.setattr(sys, "frozen", False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    assert background.start(place) is None


_PARENT = """
import sys
from dragoman.archive.index import keeping
from dragoman.archive.api import SessionArchive
keeping._MOMENT_SECONDS = 0.0
archive = SessionArchive(home=sys.argv[1], cache=sys.argv[2])
archive.begin_index()
print(archive._keeper._background.pid, flush=True)
sys.stdin.read()
"""


@needs_linux
def test_it_dies_with_us_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    home, cache = tmp_path / "home", tmp_path / "cache"
    for number in range(30):
        save(home, number, simple(number, [f"word{number} {'more ' * 30}"] * 200))
    for _ in range(3):
        assert is_gone_with([sys.executable, "-c", _PARENT, str(home), str(cache)])

    with SessionArchive(home=home, cache=cache) as archive:
        archive.index()
        assert rows_of(archive) == fresh(home, tmp_path)
        assert archive._database.row("PRAGMA integrity_check")[0] == "ok"
