"""What tells the logs of one harness from those of another."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from dragoman.wire import jsonl
from dragoman.wire.jsonl import UNREADABLE, is_too_deep
from dragoman.wire.loose import as_dict


class LogForm(NamedTuple):
    """One harness's logs."""

    session_in: Callable[[dict[str, Any]], str | None]
    """The session that a header names; None for any other row."""
    header: Callable[[str], dict[str, Any]]
    """A header for a file that lacks it, by the session's id."""
    begins: re.Pattern[str]
    """How a row begins, to find whole ones on a damaged line."""


def read_object(line: bytes) -> dict[str, Any] | None:
    """Return the object on a line; None if it is none."""
    if is_too_deep(line):
        return None
    try:
        value = msgspec.json.decode(jsonl.mend(line))
        line.decode()
    except UNREADABLE:
        return None
    return as_dict(value) if isinstance(value, dict) else None
