"""Reads values of no promised type: each function returns the type it names, or nothing."""

from __future__ import annotations

from typing import Any, cast


def as_dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_str(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def texts(value: Any) -> list[str]:
    """The texts in a list; whatever else is in there is left out."""
    return [each for each in as_list(value) if isinstance(each, str)]
