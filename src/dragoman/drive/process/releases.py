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
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.folders import cache_path
from dragoman.harnesses.contract.conversation import Release

_State: TypeAlias = tuple[int, int, int, int, int]
SMALLEST: Final = 16_000_000
"""Programs of agents have a hundred megabytes and more, launchers a few."""
_NAME: Final = "releases.json"
_MOST: Final = 32


def recall_release(program: str, environment: Mapping[str, str] = os.environ) -> Release | None:
    """The release that this program had when it was last asked, if it is still the same file."""
    state = _state(program)
    known = _read(environment).get(program) if state is not None else None
    return known[1] if known is not None and known[0] == state else None


def remember_release(
    program: str, release: Release, environment: Mapping[str, str] = os.environ
) -> None:
    """Keep what a program answered."""
    state = _state(program)
    if state is None:
        return
    known = {path: each for path, each in _read(environment).items() if path != program}
    known[program] = (state, release)
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


def _read(environment: Mapping[str, str]) -> dict[str, tuple[_State, Release]]:
    try:
        with open(os.path.join(cache_path(environment), _NAME), "rb") as file:
            found: Any = msgspec.json.decode(file.read())
        # Checked by hand: to make a decoder of this type takes longer than everything else here.
        return {
            str(path): (_numbers(state, 5), _numbers(release, 3))  # pyright: ignore[reportReturnType]
            for path, (state, release) in found.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, msgspec.MsgspecError, RecursionError):
        return {}


def _numbers(found: Any, count: int) -> tuple[int, ...]:
    numbers = tuple(found)
    if len(numbers) != count or any(each.__class__ is not int for each in numbers):
        raise ValueError(numbers)
    return numbers


def _state(program: str) -> _State | None:
    """What changes when the file is replaced; None for a file that is too small to be the program."""
    try:
        found = os.stat(program)
    except OSError:
        return None
    if found.st_size < SMALLEST:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
