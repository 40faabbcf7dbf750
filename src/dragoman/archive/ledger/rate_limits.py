"""Find the newest rate limits that any session reports."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from dragoman.archive.finding import FoundFile
from dragoman.errors import UnreadableSource
from dragoman.model.messages import RateLimits, RateWindow
from dragoman.reading.regular import open_regular

_TAIL: Final = 4 << 20
"""How many bytes at the end of a long file are read first: the newest limits are near the end."""
_FILES: Final = 25
"""How many files are searched, newest first."""


class Limits(NamedTuple):
    """The rate limits last reported in a session."""

    at: datetime | None
    file: str
    windows: list[RateWindow]


def newest_limits(files: Iterable[FoundFile]) -> Limits | None:
    """Return the newest limits in these files; None if the newest files report none."""
    newest = sorted(files, key=lambda found: (-found.mtime_ns, found.path))[:_FILES]
    for found in newest:
        limits = _last(found)
        if limits is not None:
            return Limits(limits.at, found.path, limits.windows)
    return None


def _last(found: FoundFile) -> RateLimits | None:
    from dragoman.reading.read import read

    last: RateLimits | None = None
    try:
        for source in _ends(found):
            for message in read(source, only={"rate_limits"}):
                if isinstance(message, RateLimits) and message.windows:
                    last = message
            if last is not None:
                break
    except (UnreadableSource, OSError):
        return None  # the ledger reports why it cannot be read
    return last


def _ends(found: FoundFile) -> Iterator[str | bytes]:
    """Yield the end of a file, then all of it."""
    if found.size > 2 * _TAIL and found.path.endswith(".jsonl"):
        with open_regular(found.path) as file:
            file.seek(-_TAIL, os.SEEK_END)
            file.readline()  # the rest of an incomplete row
            yield file.read()
    if os.path.isfile(found.path):
        yield found.path
