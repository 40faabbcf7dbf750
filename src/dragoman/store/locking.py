"""One writer at a time: a lock on a file next to the index, released by the OS if the process dies.

The file contains the holder's process id and progress, for those that wait.
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
    """A lock held by the writer. The file only describes the holder; the lock itself is the OS's."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(
        self, wait_seconds: float = 0.0, sleep: Callable[[float], None] = time.sleep
    ) -> bool:
        """Take the lock, waiting up to ``wait_seconds``. Return whether it was acquired."""
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
        """Write the holder's progress to the file, if we hold the lock."""
        if self._handle is None:
            return
        words = " ".join(map(str, (os.getpid(), *numbers)))
        os.lseek(self._handle, 0, os.SEEK_SET)
        with suppress(OSError):  # on a full disk, waiting processes see no progress
            os.write(self._handle, f"{words}\n".ljust(_WIDTH).encode())

    def progress(self) -> tuple[int, ...]:
        """Return the progress last written by the current or previous holder."""
        return tuple(self._read()[1:])

    def abandon(self) -> None:
        """Close our end of the lock in a copy of the process that holds it, which keeps it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def holder(self) -> int | None:
        """Return the process that last took the lock, if the file names it."""
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

        # Lock a byte far beyond the content, so that others can still read the content.
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
