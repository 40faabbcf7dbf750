"""Read the usage of many files, in several processes if that is faster, and cache it.

The cache is one file in the user's cache folder. It may be deleted at any time; if two processes
write it, the last one wins; if it cannot be written, files are read again next time.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Final

import msgspec

from dragoman.about import VERSION
from dragoman.archive.finding import FoundFile
from dragoman.archive.folders import write_whole
from dragoman.archive.ledger.entries import FileUsage
from dragoman.archive.sealed import sealed, unsealed

_FORMAT: Final = f"4 {VERSION}"
"""A cache written by another version is ignored."""
_PARALLEL: Final = 48_000_000
"""How many bytes must be read before another process is worthwhile."""
_PORTION: Final = 6_000_000
"""How many bytes a process reads at a time."""


class _CachedUsage(msgspec.Struct, array_like=True, gc=False):
    size: int
    mtime_ns: int
    encoded: bytes


class _Cache(msgspec.Struct, array_like=True, gc=False):
    format: str
    files: dict[bytes, _CachedUsage]
    """By path, as bytes because paths need not be UTF-8."""


_encode = msgspec.msgpack.Encoder().encode
_decode_usage = msgspec.msgpack.Decoder(FileUsage).decode
_decode_portion = msgspec.msgpack.Decoder(list[tuple[bytes, bytes]]).decode
_decode_cache = msgspec.msgpack.Decoder(_Cache).decode


def read_all_usage(
    files: Iterable[FoundFile], *, cache: str | os.PathLike[str] | None = None
) -> dict[str, FileUsage]:
    """Return the usage of every file by path, from ``cache`` for files that have not changed."""
    given = {found.path: found for found in files}
    kept = _recall(cache)
    known: dict[str, _CachedUsage] = {}
    moved = _by_looks(kept, given)
    missing: list[FoundFile] = []
    for path, found in given.items():
        old = kept.get(path)
        if old is None or (old.size, old.mtime_ns) != (found.size, found.mtime_ns):
            old = _moved_here(found, moved)
        if old is None:
            missing.append(found)
        else:
            known[path] = old
    with _uncollected():
        for path, encoded in _read_all(missing):
            found = given[path]
            known[path] = _CachedUsage(found.size, found.mtime_ns, encoded)
        file_usages = {path: _decode_usage(known[path].encoded) for path in given}
    good = {
        path: known[path] for path, file_usage in file_usages.items() if file_usage.problem is None
    }
    if cache is not None and any(kept.get(path) is not each for path, each in good.items()):
        # Keep cached files that were not requested this time, as long as they exist.
        others = {path: old for path, old in kept.items() if path not in known and _exists(path)}
        by_path = {os.fsencode(path): each for path, each in (others | good).items()}
        write_whole(cache, sealed(_encode(_Cache(_FORMAT, by_path))))
    return file_usages


@contextmanager
def _uncollected() -> Generator[None]:
    """Disable garbage collection: everything read here is kept, so there is nothing to collect."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _recall(cache: str | os.PathLike[str] | None) -> dict[str, _CachedUsage]:
    try:
        read = _decode_cache(unsealed(_content(cache))) if cache is not None else None
    except (OSError, ValueError, msgspec.DecodeError):
        return {}  # missing, or not written by us: read everything again
    if read is None or read.format != _FORMAT:
        return {}
    return {os.fsdecode(path): each for path, each in read.files.items()}


def _content(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _exists(path: str) -> bool:
    return os.path.exists(path)


def _by_looks(
    kept: dict[str, _CachedUsage], given: dict[str, FoundFile]
) -> dict[tuple[int, int], _CachedUsage]:
    """Return cached files that were not requested, by size and mtime: one of them may have been moved."""
    return {(old.size, old.mtime_ns): old for path, old in kept.items() if path not in given}


def _moved_here(
    found: FoundFile, moved: dict[tuple[int, int], _CachedUsage]
) -> _CachedUsage | None:
    old = moved.get((found.size, found.mtime_ns))
    if old is None:
        return None
    try:
        from dragoman.archive.ledger.reading import fingerprint_of

        same = _decode_usage(old.encoded).fingerprint == fingerprint_of(found.path)
    except OSError:
        return None
    return old if same else None


# Reading.


def _read_all(files: Sequence[FoundFile]) -> Iterator[tuple[str, bytes]]:
    if not files:
        return
    # Import the reader only if there is something to read, and before forking, so that the child
    # processes share it.
    import_module("dragoman.archive.ledger.reading")

    from dragoman.archive.ledger.sharing import MOST_PORTIONS, can_share, share

    size = sum(found.size for found in files)
    processes = min(os.cpu_count() or 1, 8, 1 + size // _PARALLEL) if can_share() else 1
    portions = _portions(files, max(_PORTION, size // MOST_PORTIONS))
    for portion in share(portions, _read_portion, processes):
        for path, encoded in _decode_portion(portion):
            yield os.fsdecode(path), encoded


def _portions(files: Iterable[FoundFile], size: int) -> list[list[str]]:
    """Split files into portions, the largest first; small files are grouped."""
    portions: list[list[str]] = [[]]
    taken = 0
    for found in sorted(files, key=lambda found: (-found.size, found.path)):
        if taken >= size:
            portions.append([])
            taken = 0
        portions[-1].append(found.path)
        taken += found.size
    return portions


def _read_portion(paths: list[str]) -> bytes:
    from dragoman.archive.ledger.reading import read_file_usage

    return _encode([(os.fsencode(path), _encode(read_file_usage(path))) for path in paths])
