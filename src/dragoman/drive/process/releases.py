"""The releases of programs that were asked before, by the state of their files.

A program takes as long to report its release as we take to start. The answer is valid as long as its file is
the same one: path, size, times and inode. Only large files are remembered. A small one may be a launcher, as
those of package and version managers, which stays the same when the program that it starts is replaced.

The cache may be deleted at any time. One that is damaged or cannot be written costs time, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec

from dragoman.folders import cache_path
from dragoman.harnesses.contract.conversation import Release

SMALLEST: Final = 16_000_000
"""Programs of agents have a hundred megabytes and more, launchers a few."""
_NAME: Final = "releases.json"
_MOST: Final = 32


class _Known(msgspec.Struct, array_like=True):
    state: tuple[int, int, int, int, int]
    release: Release


_decode: Final = msgspec.json.Decoder(dict[str, _Known]).decode


def recall_release(program: str, environment: Mapping[str, str] = os.environ) -> Release | None:
    """The release that this program had when it was last asked, if it is still the same file."""
    state = _state(program)
    known = _read(environment).get(program) if state is not None else None
    return known.release if known is not None and known.state == state else None


def remember_release(
    program: str, release: Release, environment: Mapping[str, str] = os.environ
) -> None:
    """Keep what a program answered."""
    state = _state(program)
    if state is None:
        return
    known = {path: each for path, each in _read(environment).items() if path != program}
    known[program] = _Known(state, release)
    while len(known) > _MOST:
        known.pop(next(iter(known)))
    folder = cache_path(environment)
    path = os.path.join(folder, _NAME)
    temporary = f"{path}.{os.getpid()}"
    with suppress(OSError, UnicodeEncodeError):
        os.makedirs(folder, exist_ok=True)
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(known))
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


def _read(environment: Mapping[str, str]) -> dict[str, _Known]:
    try:
        with open(os.path.join(cache_path(environment), _NAME), "rb") as file:
            return _decode(file.read())
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError):
        return {}


def _state(program: str) -> tuple[int, int, int, int, int] | None:
    """What changes when the file is replaced; None for a file that is too small to be the program."""
    try:
        found = os.stat(program)
    except OSError:
        return None
    if found.st_size < SMALLEST:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
