"""How much of the allowance is used up, by the newest word on it that any session holds."""

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
"""How much of a long file's end is looked at: the newest word stands near it."""
_FILES: Final = 25
"""How many files are looked at, the newest first, before we say that nobody tells limits."""


class Limits(NamedTuple):
    """What a session was last limits about its account's allowance."""

    at: datetime | None
    file: str
    windows: list[RateWindow]


def newest_limits(files: Iterable[FoundFile]) -> Limits | None:
    """The newest limits in any of these files; None if the newest ones do not tell any."""
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
        return None  # the ledger says why it cannot be read
    return last


def _ends(found: FoundFile) -> Iterator[str | bytes]:
    """The end of a file, then the whole of it."""
    if found.size > 2 * _TAIL and found.path.endswith(".jsonl"):
        with open_regular(found.path) as file:
            file.seek(-_TAIL, os.SEEK_END)
            file.readline()  # what is left of a row
            yield file.read()
    if os.path.isfile(found.path):
        yield found.path
