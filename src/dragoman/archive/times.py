"""Points in time as people write them: ``7d``, ``12h``, ``today``, ``2026-11-15``."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

_UNITS: Final = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def point_in_time(text: str, now: datetime | None = None) -> float:
    """Return the time in seconds since 1970. Raises ValueError with what to write instead."""
    now = now or datetime.now().astimezone()
    if text in ("today", "yesterday"):
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=text == "yesterday")).timestamp()
    if text[-1:] in _UNITS and text[:-1].replace(".", "", 1).isdigit():
        return now.timestamp() - float(text[:-1]) * _UNITS[text[-1]]
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise ValueError(
            f"not a time: {text!r} (use 2026-11-15, 3d, 12h, today or yesterday)"
        ) from None
