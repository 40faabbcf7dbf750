"""The process that counts: the same sums as here, and what happens when it cannot answer."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dragoman.archive.ledger import counting
from dragoman.archive.ledger.counting import CountingProcess, UsageQuery, count
from dragoman.archive.ledger.ledger import LedgerFilter
from dragoman.archive.places import ArchivePlace
from dragoman.drive.process import helper
from dragoman.errors import DragomanError
from support.archive.saved_sessions import Rows, save

ALL = [UsageQuery("day"), UsageQuery("project"), UsageQuery("model"), UsageQuery("session")]


@pytest.fixture
def place(tmp_path: Path) -> ArchivePlace:
    home = tmp_path / "home-\udcff"  # a name that is not UTF-8
    for number in (1, 2, 3):
        rows = Rows(number, cwd=f"/work/app-{number}")
        rows.begin("Do it").spend(1000 * number).end()
        save(home, number, rows.data)
    return ArchivePlace.of(home, (), tmp_path / "cache", {})


def test_it_counts_as_we_do(place: ArchivePlace) -> None:
    since = LedgerFilter(since=datetime(2020, 1, 1, tzinfo=UTC), model="gpt")
    questions = [
        *ALL,
        UsageQuery("session", since),
        UsageQuery("day", LedgerFilter(project="nowhere")),
    ]

    found = CountingProcess().count(place, questions)

    assert found == count(place, questions)
    assert [each.total.sessions for each in found] == [3, 3, 3, 3, 3, 0]
    assert {group.key for group in found[1].groups} == {f"/work/app-{n}" for n in (1, 2, 3)}
    assert all(group.cost is not None for group in found[0].groups)


@pytest.mark.parametrize("cannot", ["frozen", "no more processes"])
def test_where_there_can_be_no_process_we_count_ourselves(
    place: ArchivePlace, monkeypatch: pytest.MonkeyPatch, cannot: str
) -> None:
    def refuse(*_: object) -> None:
        raise BlockingIOError

    if cannot == "frozen":
        monkeypatch.setattr(helper, "can_help", lambda: False)
    else:
        monkeypatch.setattr(helper, "Helper", refuse)

    assert CountingProcess().count(place, ALL) == count(place, ALL)


def test_one_that_is_gone_without_an_answer_is_replaced_by_us(
    place: ArchivePlace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(counting, "_MODULE", "dragoman.archive.no_such_module")

    assert CountingProcess().count(place, ALL) == count(place, ALL)
    assert "No module named" in caplog.text


def test_one_that_takes_too_long_is_ended(place: ArchivePlace) -> None:
    beside = CountingProcess(seconds=0.0)

    with pytest.raises(DragomanError, match="more than 0 seconds"):
        beside.count(place, ALL)

    assert beside.pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(beside.pid, 0)


def test_nobody_waits_for_it_when_we_close(
    place: ArchivePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    program = "import pathlib, time\nfrom dragoman.drive.process import helper\nhelper.begin()\n"
    program += f"pathlib.Path({str(started)!r}).touch()\ntime.sleep(60)\n"
    (tmp_path / "count_for_ever.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(counting, "_MODULE", "count_for_ever")
    beside, said = CountingProcess(), list[str]()

    def ask() -> None:
        with pytest.raises(DragomanError) as problem:
            beside.count(place, ALL)
        said.append(str(problem.value))

    asking = threading.Thread(target=ask)
    asking.start()
    pause = threading.Event()
    for _ in range(400):
        if started.exists():
            break
        pause.wait(0.05)
    beside.end()
    asking.join(20)

    assert said == ["counting was cancelled"]
    assert beside.pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(beside.pid, 0)
