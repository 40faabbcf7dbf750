"""Points in time as rows write them, with or without a zone, right or wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec


def as_time(value: Any) -> datetime | None:
    """The moment that a value names, if it names one; without a zone it is taken for UTC."""
    try:
        moment = msgspec.convert(value, datetime)
    except msgspec.ValidationError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def in_utc(stamp: Any) -> Any:
    """A time as rows have it, if it is one and names its zone; else as UTC, or none at all."""
    if as_time(stamp) is None:
        return None
    text = str(stamp)
    return stamp if text.endswith(("Z", "z")) or text[-6:-5] in ("+", "-") else f"{text}Z"
