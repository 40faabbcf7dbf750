"""Reading values whose type is not promised: each function returns the type it names, or nothing."""

from __future__ import annotations

from typing import Any, Final, cast

_LARGEST: Final = 1 << 62
"""What is larger counts nothing."""


def as_dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_str(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_int(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_LARGEST <= value <= _LARGEST else None


def as_count(value: Any) -> int:
    """A number of things; anything that is not a sensible number counts as none."""
    return max(0, as_int(value) or 0)


def as_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None  # more digits than any count has
