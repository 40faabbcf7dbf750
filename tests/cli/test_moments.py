from __future__ import annotations

import time
from datetime import datetime, timedelta

import click
import pytest

from dragoman.cli.moments import Day, When


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
    with pytest.raises(click.BadParameter, match="not a time"):
        when.convert("d", None, None)


def test_days_begin_at_midnight_here() -> None:
    today = Day().convert("today", None, None)

    assert (today.hour, today.minute, today.tzinfo is not None) == (0, 0, True)
    assert today - timedelta(days=1) == Day().convert("yesterday", None, None)
    assert today - timedelta(days=7) == Day().convert("7d", None, None)
    assert Day().convert("2026-11-15", None, None) == datetime(2026, 11, 15).astimezone()
    assert Day().convert(today, None, None) is today
    for wrong in ("never", "d", "99999999999d", "2026-13-01"):
        with pytest.raises(click.BadParameter, match="is not a day"):
            Day().convert(wrong, None, None)
