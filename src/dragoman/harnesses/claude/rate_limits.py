"""How much of an account's allowance is used, as ``rate_limit_event`` says it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dragoman.model.messages import RateWindow
from dragoman.wire.loose import as_dict, as_number, as_str


def rate_windows(info: Any) -> list[RateWindow]:
    """The one window that an event is about."""
    given = as_dict(info)
    used = as_number(given.get("utilization"))
    name = as_str(given.get("rateLimitType")) or as_str(given.get("status")) or "rate limit"
    return [
        RateWindow(
            name=name,
            used_percent=None if used is None else used * 100 if used <= 1 else used,
            resets_at=_moment(given.get("resetsAt")),
        )
    ]


def _moment(value: Any) -> datetime | None:
    seconds = as_number(value)
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
