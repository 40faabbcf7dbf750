"""Durations in every form they have come in, as whole milliseconds."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_dict, as_int, as_list, as_number

_UNITS: Final = {
    "ns": 1e-6, "nanos": 1e-6, "nanoseconds": 1e-6,
    "us": 1e-3, "µs": 1e-3, "micros": 1e-3, "microseconds": 1e-3,
    "ms": 1.0, "millis": 1.0, "milliseconds": 1.0, "durationms": 1.0, "duration_ms": 1.0,
    "s": 1e3, "sec": 1e3, "secs": 1e3, "second": 1e3, "seconds": 1e3,
    "m": 6e4, "min": 6e4, "mins": 6e4, "minute": 6e4, "minutes": 6e4,
    "h": 36e5, "hour": 36e5, "hours": 36e5,
}  # fmt: skip
_AGES: Final = 1 << 40
"""More seconds than any command has run."""
_WHOLE_IN_ONE_KEY: Final = ("durationms", "duration_ms", "milliseconds", "millis", "ms")
_FOR_PEOPLE: Final = ("approximate", "pretty", "human")
_AMOUNT: Final = re.compile(r"(-?\d[\d,]*(?:\.\d+)?)\s*([a-zµ]+)", re.IGNORECASE)


def milliseconds(value: Any) -> int | None:
    """``1234``, ``"1.5s"``, ``"~30s"``, ``{"secs":1,"nanos":5}``, ``[1, 5]``, ``{"durationMs":9}`` … or None.

    A bare number is in milliseconds, also under a key without a unit. Two whole numbers
    are seconds and nanoseconds; the entries of any other list are added up.
    """
    if isinstance(value, dict):
        if len(as_dict(value)) == 2 and "secs" in value and "nanos" in value:
            value = as_dict(value)  # how the program itself writes them
            seconds, nanos = value["secs"], value["nanos"]
            if type(seconds) is int and type(nanos) is int and 0 <= seconds < _AGES and nanos >= 0:
                return seconds * 1000 + nanos // 1_000_000
        return _of_parts({key.lower(): part for key, part in as_dict(value).items()})
    if isinstance(value, str):
        return _of_words(value)
    if isinstance(value, list):
        return _of_list(as_list(value))
    amount = as_number(value)
    return None if amount is None else _whole(amount)


def _of_parts(parts: dict[str, Any]) -> int | None:
    for key in _WHOLE_IN_ONE_KEY:
        if key in parts:
            return milliseconds(parts[key])
    amounts = [
        amount * _UNITS[key]
        for key, value in parts.items()
        if key in _UNITS and (amount := as_number(value)) is not None
    ]
    if amounts:
        return _whole(sum(amounts))
    for key in _FOR_PEOPLE:
        if key in parts:
            return milliseconds(parts[key])
    if (unit := _UNITS.get(str(parts.get("unit", parts.get("units"))).lower())) is not None:
        amount = next(filter(None, map(as_number, parts.values())), None)
        return None if amount is None else _whole(amount * unit)
    inner = (milliseconds(value) for value in parts.values())
    return next((found for found in inner if found is not None), None)


def _of_list(entries: list[Any]) -> int | None:
    if len(entries) == 2:
        seconds, nanos = map(as_int, entries)
        if seconds is not None and nanos is not None:
            return milliseconds({"secs": seconds, "nanos": nanos})
    found = [took for entry in entries if (took := milliseconds(entry)) is not None]
    return sum(found) if found else None


def _of_words(words: str) -> int | None:
    amounts = [
        float(number.replace(",", "")) * _UNITS[unit.lower()]
        for number, unit in _AMOUNT.findall(words)
        if unit.lower() in _UNITS
    ]
    if amounts:
        return _whole(sum(amounts))
    try:
        return _whole(float(words))
    except ValueError:
        return None


def _whole(amount: float) -> int | None:
    return int(amount) if math.isfinite(amount) and amount >= 0 else None
