"""Subtotals: sums that were made when a file was read, beside the entries that they are made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.archive.ledger.entries import QUARTER, SHORT, FileUsage, LedgerEntry, subtotals_of
from dragoman.archive.ledger.groups import BY, By, summary
from dragoman.archive.ledger.ledger import Ledger, LedgerFilter
from dragoman.archive.ledger.prices import Prices
from dragoman.archive.ledger.reading import read_file_usage

_DATA = Path(__file__).parents[2] / "data"
_OWN = """
[models.cheap]
input = 1
output = 2
[[models.cheap.tiers]]
above = 1000
input = 3
output = 4
"""
_ONE_BY_ONE = LedgerFilter(since=datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=0.5))
"""Takes whatever has a time, and not by subtotals, since it does not begin where one may begin."""

# The prices of two of these models have changed, at midnight; one has a price for long requests.
_models = st.sampled_from(["gpt-5.5", "o3", "gpt-5.6-luna", "nobody-knows", None])
_times = st.sampled_from([1_749_513_600.0, 1_785_369_600.0, 1_794_733_200.25])
_tokens = st.one_of(
    st.integers(0, 3000), st.integers(SHORT - 2, SHORT + 2), st.integers(0, 300_000)
)


@st.composite
def _entries(draw: st.DrawFn) -> LedgerEntry:
    at = draw(_times) + draw(st.floats(-2 * QUARTER, 2 * QUARTER))
    given, cached = draw(_tokens), draw(_tokens)
    return LedgerEntry(
        draw(st.sampled_from(["s", "t"])),
        "turn",
        at,
        draw(_models),
        draw(st.sampled_from(["/a", "/b", None])),
        1,
        given,
        min(cached, given) if draw(st.booleans()) else cached,
        0,
        draw(st.integers(0, 900)),
        0,
        0,
        0,
        0,
    )


@given(entries=st.lists(_entries(), max_size=12))
def test_sums_of_subtotals_are_the_sums_of_their_entries(entries: list[LedgerEntry]) -> None:
    ledger = Ledger({"file": FileUsage.of("f", [], entries)}, _PRICES)

    for by in BY:
        assert summary(ledger, by) == summary(ledger, by, _ONE_BY_ONE)


_PRICES = Prices()


@pytest.mark.parametrize("by", BY)
def test_subtotals_of_every_recording_are_worth_what_their_entries_are(by: By) -> None:
    accounts = {str(path): read_file_usage(path) for path in _DATA.rglob("*rollout*.jsonl")}
    ledger = Ledger(accounts)
    timed = LedgerFilter(since=datetime(1970, 1, 1, tzinfo=UTC))

    assert summary(ledger, by, timed) == summary(ledger, by, _ONE_BY_ONE)
    assert len(list(ledger.subtotals())) < len(list(ledger.entries()))


def _entry(at: float | None, tokens: int = 10, *, cached: int = 0, model: str = "m") -> LedgerEntry:
    return LedgerEntry("s", "t", at, model, "/p", 1, tokens, cached, 0, 1, 0, 0, 0, 0)


def test_a_subtotal_is_of_one_model_and_one_quarter_of_an_hour() -> None:
    entries = [_entry(at) for at in (5.0, 4.0, 899.0, 900.0, 1000.0)]
    entries.append(_entry(1001.0, model="n"))

    subtotals = subtotals_of(entries)

    assert [(subtotal.at, subtotal.count, subtotal.input) for subtotal in subtotals] == [
        (4.0, 3, 30),
        (900.0, 2, 20),
        (1001.0, 1, 10),
    ]


def test_what_must_be_valued_by_itself_is_a_subtotal_by_itself() -> None:
    long, odd = _entry(3.0, SHORT + 1), _entry(4.0, 10, cached=11)
    entries = [_entry(1.0), _entry(2.0), long, odd, odd, _entry(5.0), _entry(None), _entry(None)]

    assert [subtotal.count for subtotal in subtotals_of(entries)] == [2, 1, 1, 1, 1, 1, 1]


def test_prices_for_rather_short_requests_are_applied_to_each(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(_OWN)
    entries = [_entry(at, tokens, model="cheap") for at, tokens in ((1.0, 900), (2.0, 1100))]
    ledger = Ledger({"file": FileUsage.of("f", [], entries)}, Prices(prices))

    told = summary(ledger, "day").total

    assert told.responses == 2
    assert told.cost is not None
    assert told.cost * 1_000_000 == 900 * 1 + 1100 * 3 + 1 * 2 + 1 * 4


def test_entries_stay_packed_until_they_are_asked_for() -> None:
    entries = [_entry(1.0), _entry(2.0)]
    account = FileUsage.of("f", [], entries)

    assert account.entries == entries
    assert len(account.subtotals) == 1
    assert FileUsage.unread("why").entries == []
