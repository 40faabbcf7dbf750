from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.values.durations import milliseconds


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        (0, 0),
        (1234, 1234),
        (1234.9, 1234),
        ({"secs": 0, "nanos": 52217580}, 52),
        ({"secs": 0, "nanos": 17753}, 0),
        ({"secs": 2, "nanos": 100_000_000}, 2100),
        ({"nanos": 5_000_000, "secs": 1}, 1005),
        ({"secs": 1.5, "nanos": 0}, 1500),
        ({"Secs": 2, "Nanos": 5_000_000}, 2005),
        ({"seconds": 2}, 2000),
        ({"minutes": 1, "seconds": 30}, 90_000),
        ({"micros": 2500}, 2),
        ({"durationMs": 9}, 9),
        ({"duration_ms": 9}, 9),
        ({"ms": 9}, 9),
        ({"milliseconds": 9, "seconds": 4}, 9),
        ({"durationMs": "1.5s"}, 1500),
        ({"approximate": "~30s"}, 30_000),
        ({"pretty": "1m 30s", "exact": False}, 90_000),
        ({"duration": {"secs": 1, "nanos": 0}}, 1000),
        ("1.5s", 1500),
        ("~30s", 30_000),
        ("250ms", 250),
        ("250 ms", 250),
        ("1m30s", 90_000),
        ("1h 2m 3s", 3_723_000),
        ("2 minutes", 120_000),
        ("1 hour", 3_600_000),
        ("about 3 seconds", 3000),
        ("0.3421 seconds", 342),
        ("900µs", 0),
        ("1500us", 1),
        ("12ns", 0),
        ("1.5S", 1500),
        ("1234", 1234),
        ("12.5", 12),
        ([5], 5),
        ([2, 500_000_000], 2500),
        (["1m", "30s"], 90_000),
        ([{"secs": 1, "nanos": 0}], 1000),
        ({"elapsed": 125}, 125),
        ({"wall": {"time": [1, 5_000_000]}}, 1005),
        ({"value": 1.5, "unit": "s"}, 1500),
    ],
    ids=str,
)
def test_a_duration_is_whole_milliseconds_in_whatever_form_it_comes(value: Any, ms: int) -> None:
    assert milliseconds(value) == ms


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        [],
        [None],
        {},
        "",
        "soon",
        "5 parsecs",
        -5,
        -0.5,
        "-5",
        math.nan,
        math.inf,
        -math.inf,
        "nan",
        "inf",
        "1e999",
        f"{'9' * 400}s",
        10**400,
        {"seconds": 10**400},
        {"durationMs": None},
        {"durationMs": -1},
        {"durationMs": True},
        {"seconds": -1},
        {"secs": -1, "nanos": 0},
        {"seconds": math.inf},
        {"parsecs": -5},
        {"approximate": None},
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_duration_gives_none(value: Any) -> None:
    assert milliseconds(value) is None


@given(st.text() | st.floats() | st.booleans() | st.integers() | st.none())
def test_no_word_and_no_number_raises_or_gives_a_negative(value: Any) -> None:
    ms = milliseconds(value)

    assert ms is None or ms >= 0


@given(st.integers(0, 10**9), st.integers(0, 999_999_999))
def test_seconds_and_nanoseconds_are_counted_exactly(secs: int, nanos: int) -> None:
    assert milliseconds({"secs": secs, "nanos": nanos}) == secs * 1000 + nanos // 1_000_000


@given(st.integers(0, 2**53))
def test_all_ways_to_write_milliseconds_agree(ms: int) -> None:
    written: list[Any] = [ms, str(ms), f"{ms}ms", {"durationMs": ms}, {"duration_ms": f"{ms} ms"}]

    assert {milliseconds(value) for value in written} == {ms}
