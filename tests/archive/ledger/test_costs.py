from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest

from dragoman.archive.api import SessionArchive
from dragoman.archive.ledger import costs as module
from dragoman.archive.ledger.costs import Cost, costs_of
from dragoman.archive.ledger.entries import FileUsage
from support.archive.saved_sessions import Rows, save, session_id

_PRICES = """
[models."gpt-5.5"]
input = 10
output = 100
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "settings" / "dragoman"
    folder.mkdir(parents=True)
    (folder / "prices.toml").write_text(_PRICES, encoding="utf-8")
    return {
        "CODEX_HOME": str(tmp_path / "home"),
        "DRAGOMAN_CACHE": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "settings"),
        "APPDATA": str(tmp_path / "settings"),
    }


def costs(environment: dict[str, str], *numbers: int) -> dict[str, Cost]:
    with SessionArchive(environment=environment) as archive:
        archive.index()
        return costs_of([archive.get(session_id(number)) for number in numbers], environment)


def test_sessions_cost_what_the_ledger_says(tmp_path: Path, environment: dict[str, str]) -> None:
    save(tmp_path / "home", 1, Rows(1).turn("one", "1").turn("two", "2").data)
    save(tmp_path / "home", 2, Rows(2).turn("other", "3").data)

    found = costs(environment, 1)

    # Twice 100 tokens in and 10 out.
    assert found == {session_id(1): Cost(Decimal("0.004"))}
    assert found[session_id(1)].whole == Decimal("0.004")


def test_only_files_of_these_sessions_are_read(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dragoman.archive.ledger import reading

    read: list[str] = []
    whole = reading.read_file_usage

    def noted(path: str) -> FileUsage:
        read.append(path)
        return whole(path)

    monkeypatch.setattr(reading, "read_file_usage", noted)
    for number in (1, 2, 3):
        save(tmp_path / "home", number, Rows(number).turn("one", "1").data)

    costs(environment, 1, 3)
    costs(environment, 1, 3)

    assert sorted(Path(path).stem[-1] for path in read) == ["1", "3"]


def test_sub_agents_spend_for_themselves(tmp_path: Path, environment: dict[str, str]) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": session_id(1), "depth": 1}}}
    save(tmp_path / "home", 1, Rows(1).turn("one", "1").data)
    save(tmp_path / "home", 2, Rows(2, source=spawn).turn("help", "2").turn("more", "3").data)

    found = costs(environment, 1, 2)

    assert [found[session_id(number)].amount for number in (1, 2)] == [
        Decimal("0.002"),
        Decimal("0.004"),
    ]


def test_what_has_no_price_has_no_cost(tmp_path: Path, environment: dict[str, str]) -> None:
    known, strange = Rows(1).turn("one", "1").data, Rows(2).turn("one", "1").data
    mixed = known + Rows(1).turn("x", "y").turn("two", "2").data.partition(b"\n")[2]
    mixed = mixed[: len(known)] + mixed[len(known) :].replace(b'"gpt-5.5"', b'"nobody-knows-it"')
    save(tmp_path / "home", 1, mixed)
    save(tmp_path / "home", 2, strange.replace(b'"gpt-5.5"', b'"nobody-knows-it"'))

    found = costs(environment, 1, 2)

    assert found[session_id(2)] == Cost(None, 110)
    assert found[session_id(2)].whole is None
    assert found[session_id(1)].amount == Decimal("0.002")
    assert found[session_id(1)].unpriced_tokens
    assert found[session_id(1)].whole is None


def test_a_session_that_tells_no_usage_has_none(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    save(tmp_path / "home", 1, Rows(1).begin("one").say("1").end().data)

    assert costs(environment, 1) == {}


def test_what_was_worked_out_is_remembered(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "home", 1, Rows(1).turn("one", "1").data)
    save(tmp_path / "home", 2, Rows(2).begin("one").say("1").end().data)
    save(tmp_path / "home", 3, Rows(3).turn("x", "y").data.replace(b"gpt-5.5", b"nobody-knows"))
    found = costs(environment, 1, 2, 3)

    def again(*_: object) -> dict[str, Cost]:
        pytest.fail("it is known")

    monkeypatch.setattr(module, "_count", again)

    assert costs(environment, 1, 2, 3) == found
    assert found.keys() == {session_id(1), session_id(3)}


def test_what_is_remembered_goes_with_the_file_and_the_prices(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    rows = Rows(1).turn("one", "1")
    save(tmp_path / "home", 1, rows.data)
    once = costs(environment, 1)[session_id(1)].amount
    save(tmp_path / "home", 1, rows.turn("two", "2").data)
    twice = costs(environment, 1)[session_id(1)].amount
    prices = Path(environment["XDG_CONFIG_HOME"]) / "dragoman" / "prices.toml"
    prices.write_text(_PRICES.replace("10", "20"), encoding="utf-8")
    os.utime(prices, (1, 1))
    dearer = costs(environment, 1)[session_id(1)].amount

    assert (once, twice, dearer) == (Decimal("0.002"), Decimal("0.004"), Decimal("0.008"))


@pytest.mark.parametrize(
    "memory", ["", "[]", '{"stamp": 1}', "\0", '{"stamp": "x", "sessions": 3}']
)
def test_a_memory_that_makes_no_sense_is_forgotten(
    tmp_path: Path, environment: dict[str, str], memory: str
) -> None:
    save(tmp_path / "home", 1, Rows(1).turn("one", "1").data)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "costs.json").write_text(memory, encoding="utf-8")

    assert costs(environment, 1) == {session_id(1): Cost(Decimal("0.002"))}
