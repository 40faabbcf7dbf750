"""Points in time, as lines name them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec


def as_time(value: Any) -> datetime | None:
    """The moment that a value names, if it names one; without a zone it is taken for UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = msgspec.convert(value, datetime, strict=False)
    except msgspec.ValidationError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def later(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two moments, of which either may be unknown."""
    if one is None or other is None:
        return one or other
    return max(one, other)
