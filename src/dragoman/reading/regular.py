"""Open session files, and only regular files.

A named pipe would block and a device may never end. The type is checked before opening, because
opening a device can have side effects, and again afterwards, in case the file was replaced.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from io import BufferedReader

_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_SMALLEST: Final = 1 << 13
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
)


class NotRegular(OSError):
    """The path is not a regular file."""

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(errno.EINVAL, f"it is {kind}, not a file", path)


def _refusal(path: str, mode: int) -> OSError:
    if stat.S_ISDIR(mode):
        return IsADirectoryError(errno.EISDIR, "it is a directory", path)
    kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "something else")
    return NotRegular(path, kind)


def open_regular(
    path: str | os.PathLike[str], *, buffering: int = 1 << 20, state: os.stat_result | None = None
) -> BufferedReader:
    """Open a file for reading. Raises ``OSError`` if it is not a regular file.

    ``state`` is what the system has just said about the path, if the caller has asked.
    """
    name = os.fspath(path)
    _check(name, os.stat(name) if state is None else state)
    handle = os.open(name, _FLAGS)
    try:
        state = os.fstat(handle)
        _check(name, state)
        # A large buffer costs more than reading a small file: the system has to clear it first.
        buffering = min(buffering, max(state.st_size + 1, _SMALLEST))
        return cast("BufferedReader", open(handle, "rb", buffering=buffering))
    except BaseException:
        os.close(handle)
        raise


def is_regular(state: os.stat_result) -> bool:
    return stat.S_ISREG(state.st_mode)


def _check(name: str, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise _refusal(name, state.st_mode)
