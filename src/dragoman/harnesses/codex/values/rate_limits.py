"""Rate-limit windows, in the shapes the releases have given them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from dragoman.harnesses.codex.values.loose import as_dict, as_number
from dragoman.model.messages import RateWindow


def rate_windows(limits: Any, at: datetime | None) -> list[RateWindow]:
    """The windows in a snapshot.

    ``{"primary": {"used_percent", "resets_at" | "resets_in_seconds"}, "secondary": …}`` in either
    spelling, or the flat ``primary_used_percent``, ``weekly_used_percent`` of early releases.
    """
    given = as_dict(limits)
    windows: list[RateWindow] = []
    for name, value in given.items():
        if name.endswith("_used_percent") and (used := as_number(value)) is not None:
            windows.append(RateWindow(name.removesuffix("_used_percent"), used))
            continue
        window = as_dict(value)
        used = as_number(window.get("used_percent", window.get("usedPercent")))
        if used is not None:
            windows.append(RateWindow(name, used, _resets_at(window, at)))
    return windows


def _resets_at(window: dict[str, Any], at: datetime | None) -> datetime | None:
    epoch = as_number(window.get("resets_at", window.get("resetsAt")))
    wait = as_number(window.get("resets_in_seconds", window.get("resetsInSeconds")))
    try:
        if epoch is not None:
            return datetime.fromtimestamp(epoch, UTC)
        if wait is not None and at is not None:
            return at + timedelta(seconds=wait)
    except (OverflowError, OSError, ValueError):
        return None
    return None
