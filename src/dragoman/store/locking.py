"""One writer at a time: a lock on a file beside the index, given up by the system if we die.

The file says who has it, and how far that one has come, for whoever waits meanwhile.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

_PAUSE_SECONDS: Final = 0.05
_WIDTH: Final = 120


class WriterLock:
    """Held by whoever writes. The file says who that is; the lock itself is the system's."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(
        self, wait_seconds: float = 0.0, sleep: Callable[[float], None] = time.sleep
    ) -> bool:
        """Take the lock, waiting no longer than this; whether we have it."""
        if self._path is None or self._handle is not None:
            return True
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        ends = time.monotonic() + wait_seconds
        while not _try(handle):
            if time.monotonic() >= ends:
                os.close(handle)
                return False
            sleep(_PAUSE_SECONDS)
        self._handle = handle
        self.publish(())
        return True

    def publish(self, numbers: Sequence[int]) -> None:
        """Say how far the work has come, if we have the lock."""
        if self._handle is None:
            return
        words = " ".join(map(str, (os.getpid(), *numbers)))
        os.lseek(self._handle, 0, os.SEEK_SET)
        with suppress(OSError):  # the disk may be full: then nobody is told
            os.write(self._handle, f"{words}\n".ljust(_WIDTH).encode())

    def progress(self) -> tuple[int, ...]:
        """What the holder, or the last one, has said."""
        return tuple(self._read()[1:])

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def holder(self) -> int | None:
        """The process that last took the lock, if the file tells."""
        return next(iter(self._read()), None)

    def _read(self) -> list[int]:
        try:
            if self._path is None:
                return []
            with open(self._path, encoding="ascii") as file:
                return [int(word) for word in file.readline(_WIDTH).split()]
        except (OSError, ValueError):
            return []


if sys.platform == "win32":

    def _try(handle: int) -> bool:
        import msvcrt

        # A byte far behind what we write, which others may then still read.
        os.lseek(handle, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(handle, 0, os.SEEK_SET)
        return True

else:

    def _try(handle: int) -> bool:
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
