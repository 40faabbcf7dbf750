from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dragoman.archive.times import point_in_time

_NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("3d", "2026-11-12T12:00"),
        ("12h", "2026-11-15T00:00"),
        ("1.5h", "2026-11-15T10:30"),
        ("2w", "2026-11-01T12:00"),
        ("today", "2026-11-15T00:00"),
        ("yesterday", "2026-11-14T00:00"),
        ("2026-11-01T08:00+00:00", "2026-11-01T08:00"),
    ],
)
def test_a_point_in_time_as_people_write_it(text: str, at: str) -> None:
    assert point_in_time(text, _NOW) == datetime.fromisoformat(f"{at}+00:00").timestamp()


@pytest.mark.parametrize("text", ["", "d", "soon", "2026-13-01", "-3d"])
def test_what_is_no_time_says_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="use 2026-11-15, 3d, 12h"):
        point_in_time(text, _NOW)
