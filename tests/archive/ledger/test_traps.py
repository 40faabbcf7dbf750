"""The traps of the benchmark, one by one: what the generator knows is what we count."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dragoman.archive.finding import FoundFile
from dragoman.archive.ledger.groups import summary
from dragoman.archive.ledger.ledger import Ledger, find_files

_FOLDER = str(Path(__file__).parents[3] / "benchmarks")
sys.path.insert(0, _FOLDER)
try:
    traps: Any = importlib.import_module("corpus_traps")
finally:
    sys.path.remove(_FOLDER)


def _tokens(group: Any) -> tuple[int, ...]:
    usage = group.usage
    return (
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.cache_write_input_tokens,
        usage.output_tokens,
        usage.reasoning_output_tokens,
    )


def _files(home: Path) -> list[FoundFile]:
    return find_files((), {"CODEX_HOME": str(home)})


@pytest.mark.parametrize("make", traps.TRAPS, ids=lambda make: make.__name__)
def test_a_trap_is_counted_right(make: Callable[..., Any], tmp_path: Path) -> None:
    trap = traps.write(tmp_path, make)

    told = summary(Ledger.read(_files(tmp_path)), "model")

    assert {group.key: _tokens(group) for group in told.groups if group.usage} == trap.spent
    assert told.total.silent_sessions == trap.silent


def test_all_traps_together_are_the_sum_of_the_traps(tmp_path: Path) -> None:
    total = traps.NOTHING
    for hour, make in enumerate(traps.TRAPS):
        total = traps.plus(total, traps.write(tmp_path, make, hour).total)

    files = _files(tmp_path)

    assert _tokens(summary(Ledger.read(files), "day").total) == total
    assert _tokens(summary(Ledger.read(files[::-1] + files), "day").total) == total


def test_any_part_of_a_family_counts_what_it_holds(tmp_path: Path) -> None:
    """Whichever files are left, nothing is counted that they do not tell, and nothing twice."""
    traps.write(tmp_path, traps.forks_that_copy)
    files = _files(tmp_path)
    whole = {(row.session_id, row.turn_id, row.usage) for row in Ledger.read(files).rows()}

    for left in _subsets(files):
        rows = [(row.session_id, row.turn_id, row.usage) for row in Ledger.read(left).rows()]
        assert len(rows) == len(set(rows))
        assert set(rows) <= whole


def _subsets(files: list[FoundFile]) -> Iterator[list[FoundFile]]:
    for number in range(1, 1 << len(files)):
        yield [found for place, found in enumerate(files) if number >> place & 1]


def test_long_requests_are_priced_one_by_one(tmp_path: Path) -> None:
    traps.write(tmp_path, traps.long_requests)
    ledger = Ledger.read(_files(tmp_path))

    rates = [
        round(row.cost / row.usage.input_tokens * 1_000_000, 1)
        for row in ledger.rows()
        if row.cost is not None
    ]
    assert rates[2] < 3 < 5 < rates[3]
    assert summary(ledger, "day").total.cost == Decimal("5.2345095")


def test_more_cached_than_input_is_not_a_refund(tmp_path: Path) -> None:
    traps.write(tmp_path, traps.more_cached_than_input)

    first, second = Ledger.read(_files(tmp_path)).rows()
    assert first.cost == Decimal("0.0005") + Decimal("0.003")
    assert second.cost == Decimal("0.025") + Decimal("0.002") + Decimal("0.003")
