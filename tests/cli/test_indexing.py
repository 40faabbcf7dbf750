"""Waiting for the index: a bar, Ctrl-C, and an end of patience."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.index.updating import Progress
from dragoman.cli import indexing
from dragoman.cli.indexing import Bar, wait_for


class Coming:
    """An archive whose index comes on as it is told to."""

    def __init__(self, *steps: Progress | BaseException | None, trouble: str | None = None) -> None:
        self._steps: Iterator[Progress | BaseException | None] = iter(steps)
        self._trouble = [trouble] if trouble else []

    def wait_index(self, _: float) -> Progress | None:
        step = next(self._steps)
        if isinstance(step, BaseException):
            raise step
        return step

    def troubles(self) -> list[str]:
        return self._trouble


def archive(*steps: Progress | BaseException | None, trouble: str | None = None) -> SessionArchive:
    return cast("SessionArchive", Coming(*steps, trouble=trouble))


def at(files: int) -> Progress:
    return Progress(files, 4, files * 25, 100)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Says what time it is; the last one is also how fast time goes by."""
    now = [0.0, 1.0]

    def monotonic() -> float:
        now[0] += now[1]
        return now[0]

    monkeypatch.setattr(indexing.time, "monotonic", monotonic)
    return now


def test_it_is_waited_for_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert wait_for(archive(at(0), at(1), at(2), None, trouble="something is odd"))
    assert capsys.readouterr().err == "dragoman: something is odd\n"


@pytest.mark.usefixtures("clock")
def test_it_is_waited_for_until_there_is_enough() -> None:
    looks = iter([False, False, True])

    assert wait_for(archive(at(0), at(1), at(2)), lambda: next(looks))
    assert list(looks) == []


def test_what_is_enough_at_once_is_not_waited_for() -> None:
    assert wait_for(archive(at(0)), lambda: True)


def test_stopping_leaves_what_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert not wait_for(archive(at(0), at(1), KeyboardInterrupt()))
    assert "the next command continues from here" in capsys.readouterr().err


def test_what_does_not_come_on_is_not_waited_for_for_ever(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    clock[1] = 10.0

    assert wait_for(archive(*[at(1)] * 30))
    assert "has stalled" in capsys.readouterr().err


def test_a_bar_is_shown_on_a_terminal_when_it_takes_a_while(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bar = Bar()
    bar.show(Progress(0, 0, 0, 0))  # nobody knows how much there is
    bar.show(at(0))
    bar.show(at(1))
    clock[1] = 0.01
    bar.show(at(2))  # too soon to be seen
    clock[1] = 1.0
    bar.show(at(3))
    bar.show(at(4))
    bar.clear()
    bar.clear()

    shown = capsys.readouterr().err.split("\r\x1b[K")
    assert len(shown) == 6
    assert shown[2].endswith("1 of 4 sessions, 6 s left")
    assert "3 of 4 sessions, 1 s left" in shown[3]
    assert shown[4].endswith("4 sessions, sorting")
    assert shown[5] == ""


def test_no_bar_is_shown_to_a_program(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    bar = Bar()
    for files in range(5):
        bar.show(at(files))
    bar.clear()

    assert capsys.readouterr().err == ""
