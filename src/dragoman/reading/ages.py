"""How long ago something was, in words for people."""

from __future__ import annotations

import time


def ago(seconds: float) -> str:
    """Format a duration as a short relative time."""
    if seconds < 60:
        return f"{max(0, int(seconds))} s ago"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    return (
        f"{int(seconds // 3600)} h ago" if seconds < 86400 * 2 else f"{int(seconds // 86400)} d ago"
    )


def since(at: float) -> str:
    """Format a time, in seconds since 1970, relative to now."""
    return ago(time.time_ns() / 1e9 - at)
