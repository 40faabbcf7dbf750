from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from dragoman.web.page import charts
from dragoman.web.page.rows import UsageRow


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (950, "950"),
        (12_345, "12.3k"),
        (999_999, "1000k"),
        (4_560_000, "4.56M"),
        (2e9, "2G"),
    ],
)
def test_numbers_are_short(number: float, words: str) -> None:
    assert charts.short(number) == words


def test_money_is_never_invented() -> None:
    assert charts.dollars(None) == "—"
    assert charts.dollars(0) == "$0.00"
    assert charts.dollars(0.002) == "<$0.01"
    assert charts.dollars(1234.5) == "$1,234.50"


def test_a_days_bar_is_made_of_its_parts_and_says_so() -> None:
    day = UsageRow(
        key="2026-11-01", input_tokens=100, cached_input_tokens=60, output_tokens=10, cost=1
    )

    drawn = charts.spending([day])

    assert [drawn.count(f'class="{name}"') for name in ("cached", "fresh", "out")] == [1, 1, 1]
    assert "<title>2026-11-01: 100 in, 10 out, $1.00</title>" in drawn


def test_a_day_without_anything_has_no_bar() -> None:
    assert "<rect" not in charts.spending([UsageRow(key="d")])


def test_an_allowance_says_when_it_begins_anew() -> None:
    shown = charts.window("weekly", 40.0, datetime(2026, 11, 3, tzinfo=UTC))

    assert "40 % used" in shown
    assert 'datetime="2026-11-03T00:00:00+00:00"' in shown


def test_days_without_anything_are_days_all_the_same() -> None:
    first, last = date(2026, 10, 30), date(2026, 11, 2)

    assert charts.every_day([last, first], 10) == [
        date(2026, 10, 30),
        date(2026, 10, 31),
        date(2026, 11, 1),
        date(2026, 11, 2),
    ]
    assert charts.every_day([last, first], 2) == [date(2026, 11, 1), last]
    assert charts.every_day([], 2) == []
