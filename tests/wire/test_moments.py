from __future__ import annotations

from datetime import UTC, datetime

from dragoman.wire.moments import as_time, later


def test_a_moment_without_a_zone_is_taken_for_utc() -> None:
    moment = datetime(2026, 11, 15, 22, 26, 6, tzinfo=UTC)

    assert as_time("2026-11-15T22:26:06.000Z") == as_time("2026-11-15T22:26:06") == moment
    assert [as_time(value) for value in ("yesterday", 3, None, "")] == [None] * 4


def test_the_later_of_two_moments() -> None:
    one, other = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)

    assert later(one, other) == later(other, one) == later(None, other) == other
    assert later(one, None) == one
    assert later(None, None) is None
