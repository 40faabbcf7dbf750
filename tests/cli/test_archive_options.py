from __future__ import annotations

import time
from pathlib import Path

import click
import pytest

from archive_home import make_home
from dragoman.archive.api import Archive
from dragoman.archive.indexing import Progress, Report
from dragoman.cli import archive_options
from dragoman.cli.archive_options import When, open_archive


@pytest.mark.parametrize(
    ("words", "ago"),
    [("10m", 600), ("12h", 43200), ("7d", 604800), ("1.5h", 5400), ("2w", 1209600)],
)
def test_times_may_be_counted_back(words: str, ago: float) -> None:
    now = time.clock_gettime(time.CLOCK_REALTIME)

    assert When().convert(words, None, None) == pytest.approx(now - ago, abs=5)


def test_times_may_be_named() -> None:
    when = When()

    assert when.convert("today", None, None) - when.convert("yesterday", None, None) in (
        82800.0,
        86400.0,
        90000.0,
    )
    assert when.convert("2026-11-15T10:00:00+00:00", None, None) == 1794736800.0
    assert when.convert(5.0, None, None) == 5.0
    with pytest.raises(click.BadParameter, match="is no time"):
        when.convert("d", None, None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    return make_home(tmp_path / "home")


def test_stopping_the_indexing_leaves_what_is_done(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_archive(()).close()

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Archive, "index", stopped)
    with open_archive(()) as archive:
        assert len(archive.sessions()) == 3
    assert "the next command goes on from there" in capsys.readouterr().err


def test_trouble_is_told_and_the_rest_is_shown(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    troubled = Report(unreadable=tuple((f"/x/{n}", "no") for n in range(9)), waited_for=7)

    def index(*_: object) -> Report:
        return troubled

    monkeypatch.setattr(Archive, "index", index)
    open_archive(()).close()

    err = capsys.readouterr().err
    assert "another program is indexing" in err
    assert "cannot read /x/0: no" in err
    assert "cannot read 4 more files" in err


def test_a_bar_is_shown_on_a_terminal_when_it_takes_a_while(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    now = iter([0.0, 0.1, 5.0, 5.01, 9.0])
    monkeypatch.setattr(archive_options.time, "monotonic", lambda: next(now))
    bar = archive_options._Bar()
    for done in range(4):
        bar.show(Progress(done, 4, done * 25, 100))
    bar.clear()

    err = capsys.readouterr().err
    assert err.count("indexing") == 2
    assert "1 of 4 sessions" in err
    assert err.endswith("\r\x1b[K")
