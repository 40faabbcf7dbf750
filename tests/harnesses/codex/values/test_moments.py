from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from dragoman.harnesses.codex.values.moments import as_time, in_utc


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-11-15T09:00:00Z", datetime(2026, 11, 15, 9, tzinfo=UTC)),
        ("2026-11-15T09:00:00.25", datetime(2026, 11, 15, 9, 0, 0, 250_000, tzinfo=UTC)),
        (
            "2026-11-15T09:00:00+02:00",
            datetime(2026, 11, 15, 9, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("yesterday", None),
        ({"secs": 1}, None),
        (None, None),
    ],
)
def test_a_moment_is_read_or_there_is_none(value: Any, moment: datetime | None) -> None:
    assert as_time(value) == moment


@pytest.mark.parametrize(
    ("stamp", "written"),
    [
        ("2026-11-15T09:00:00Z", "2026-11-15T09:00:00Z"),
        ("2026-11-15T09:00:00-05:00", "2026-11-15T09:00:00-05:00"),
        ("2026-11-15T09:00:00.123", "2026-11-15T09:00:00.123Z"),
        ("soon", None),
        ([], None),
    ],
)
def test_a_stamp_without_a_zone_is_written_as_utc(stamp: Any, written: str | None) -> None:
    assert in_utc(stamp) == written
