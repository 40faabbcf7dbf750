"""Rate-limit windows, in the shapes the releases have given them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec

from dragoman.harnesses.codex.values.loose import as_dict, as_number
from dragoman.model.messages import RateWindow
from dragoman.wire.jsonl import UNREADABLE


class _Window(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    used_percent: float
    window_minutes: int | None = None
    resets_at: int | None = None


class _Credits(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    has_credits: bool | None = None
    unlimited: bool | None = None
    balance: str | None = None


class _Snapshot(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The shape that rollouts have today. Every other one is read loosely."""

    primary: _Window
    limit_id: str | None = None
    limit_name: str | None = None
    secondary: _Window | None = None
    credits: _Credits | None = None
    plan_type: str | None = None


_decode_snapshot = msgspec.json.Decoder(_Snapshot).decode
_decode = msgspec.json.Decoder().decode
_FIRST, _SECOND = b'"primary":', b'"secondary":{'


def windows_in(limits: bytes, at: datetime | None) -> list[RateWindow]:
    """The windows in a snapshot that is still JSON. Raises msgspec's errors if it is not."""
    try:
        known = _decode_snapshot(limits)
    except UNREADABLE:
        return rate_windows(_decode(limits), at)
    windows = [_window("primary", known.primary)]
    if known.secondary is not None:
        windows.append(_window("secondary", known.secondary))
        if limits.find(_SECOND) < limits.find(_FIRST):
            return rate_windows(_decode(limits), at)  # in another order
    return windows


def _window(name: str, window: _Window) -> RateWindow:
    return RateWindow(name, window.used_percent, _moment(window.resets_at))


@lru_cache(maxsize=16)
def _moment(epoch: int | None) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(epoch), UTC) if epoch is not None else None
    except (OverflowError, OSError, ValueError):
        return None


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
