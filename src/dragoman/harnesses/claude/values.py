"""Small values that both dialects have: points in time, and the output of local commands."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

_LOCAL: Final = re.compile(
    r"\A\s*<local-command-(stdout|stderr)>(.*?)(?:</local-command-\1>)?\s*\Z", re.DOTALL
)


def as_time(value: Any) -> datetime | None:
    """The moment that a value names, if it names one; without a zone it is taken for UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = msgspec.convert(value, datetime, strict=False)
    except msgspec.ValidationError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def local_output(text: str) -> str | None:
    """What a command of the program itself printed, such as ``/cost``; None if the text is something else."""
    found = _LOCAL.match(text)
    return found[2].strip() if found else None
