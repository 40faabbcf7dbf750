"""Find the newest rate limits that any session reports.

The rate limits in the newest files are cached: finding them takes the parser of their harness, which takes longer to
import than everything else that a report needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from dragoman.about import VERSION
from dragoman.archive.finding import FoundFile
from dragoman.archive.folders import write_whole
from dragoman.archive.sealed import sealed, unsealed
from dragoman.errors import UnreadableSource
from dragoman.reading.regular import open_regular

if TYPE_CHECKING:
    from dragoman.model.messages import RateLimits

_TAIL: Final = 4 << 20
"""How many bytes at the end of a long file are read first: the newest limits are near the end."""
_SHORT_TAIL: Final = 1 << 18
_MOST_WHOLE: Final = 1 << 26
"""How large a file may be to be held in memory."""
_FILES: Final = 25
"""How many files are searched, newest first."""
_MOST_KEPT: Final = 500
"""How many files the cache may grow to hold."""


class LimitWindow(msgspec.Struct, frozen=True):
    """The same as :class:`~dragoman.model.messages.RateWindow`, without importing all messages."""

    name: str
    used_percent: float | None = None
    resets_at: datetime | None = None


class Limits(msgspec.Struct, frozen=True):
    """The rate limits last reported in a session."""

    at: datetime | None
    file: str
    windows: list[LimitWindow]


class _FileLimits(msgspec.Struct):
    size: int
    mtime_ns: int
    limits: Limits | None


class _LimitsCache(msgspec.Struct):
    version: str
    files: dict[str, _FileLimits]


def newest_limits(files: Iterable[FoundFile], *, cache: str | None = None) -> Limits | None:
    """Return the newest limits in these files; None if the newest files report none.

    ``cache`` is a file that keeps the rate limits of unchanged files.
    """
    newest = sorted(files, key=lambda found: (-found.mtime_ns, found.path))[:_FILES]
    known = _recall(cache)
    seen: dict[str, _FileLimits] = {}
    for found in newest:
        old = known.get(found.path)
        if old is None or (old.size, old.mtime_ns) != (found.size, found.mtime_ns):
            old = _FileLimits(found.size, found.mtime_ns, _last(found))
        seen[found.path] = old
        if old.limits is not None:
            break
    if cache is not None and any(known.get(path) is not each for path, each in seen.items()):
        _keep(cache, {**known, **seen} if len(known) < _MOST_KEPT else seen)
    return next((each.limits for each in seen.values() if each.limits is not None), None)


def _recall(cache: str | None) -> dict[str, _FileLimits]:
    if cache is None:
        return {}
    try:
        with open(cache, "rb") as file:
            kept = msgspec.json.decode(unsealed(file.read()), type=_LimitsCache)
    except (OSError, ValueError):
        return {}  # missing, or not written by us
    return kept.files if kept.version == VERSION else {}


def _keep(cache: str, files: dict[str, _FileLimits]) -> None:
    try:
        data = msgspec.json.encode(_LimitsCache(VERSION, files))
    except UnicodeEncodeError:
        return  # a path that is no text
    write_whole(cache, sealed(data))


def _last(found: FoundFile) -> Limits | None:
    try:
        last = _newest_in(found)
    except (UnreadableSource, OSError):
        return None  # the ledger reports why it cannot be read
    if last is None:
        return None
    windows = [LimitWindow(each.name, each.used_percent, each.resets_at) for each in last.windows]
    return Limits(last.at, found.path, windows)


def _newest_in(found: FoundFile) -> RateLimits | None:
    quick = _quick(found)
    for source in _ends(found, whole=quick is None):
        look = quick if quick is not None and isinstance(source, bytes) else _parsed
        if (last := look(source)) is not None:  # pyright: ignore[reportArgumentType]
            return last
    return None


def _quick(found: FoundFile) -> Callable[[bytes], RateLimits | None] | None:
    """What finds limits without a parser, if the harness has it and the file is neither huge nor compressed."""
    from dragoman.harnesses import find_harness

    harness = find_harness(found.harness) if found.harness is not None else None
    if harness is None or harness.history is None or not found.path.endswith(".jsonl"):
        return None
    return harness.history.newest_limits if found.size <= _MOST_WHOLE else None


def _parsed(source: str | bytes) -> RateLimits | None:
    from dragoman.model.messages import RateLimits
    from dragoman.reading.read import read

    last: RateLimits | None = None
    for message in read(source, only={"rate_limits"}):
        if isinstance(message, RateLimits) and message.windows:
            last = message
    return last


def _ends(found: FoundFile, *, whole: bool) -> Iterator[str | bytes]:
    """Yield the end of a file, then more of it, then all of it: its path, or its content."""
    if found.path.endswith(".jsonl"):
        for tail in (_SHORT_TAIL, _TAIL):
            if found.size > 2 * tail:
                with open_regular(found.path) as file:
                    file.seek(-tail, os.SEEK_END)
                    file.readline()  # the rest of an incomplete row
                    yield file.read()
    if not os.path.isfile(found.path):
        return
    if whole:
        yield found.path
    else:
        with open_regular(found.path) as file:
            yield file.read()
