from __future__ import annotations

from dragoman.model.messages import RateLimits, RateWindow, UsageReport
from dragoman.web.page import facts


def test_what_is_not_told_is_left_out() -> None:
    assert facts.usage(UsageReport()) == {}
    assert facts.limits(RateLimits(windows=[RateWindow("x")])) == '<data data-name="x"></data>'
