"""Read new files in forked copies of this process, ahead of the one process that writes the index.

Parsing takes about as long as writing. Each copy reads its share of the files in the order in which they
will be written, and waits while its pipe is full, so memory stays flat. If a copy dies, the writer reads
the files itself. No copy outlives the writer.
"""

from __future__ import annotations

import marshal
import os
import signal
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from dragoman.archive.finding import FoundFile
from dragoman.archive.index.file import IndexTables, index_file
from dragoman.archive.index.recording import RecordedWrites, replay

_WORTHWHILE: Final = 24_000_000
"""How many bytes must be read before another process is worthwhile."""
_MOST: Final = 4
_PIPE: Final = 1 << 20
_HEAD: Final = struct.Struct("<BIQ")
"""The kind of a frame, the number of messages or the error's, and the bytes of what follows."""
_MORE, _END, _ERROR = range(3)
_FRAME: Final = 1 << 18
"""How many bytes are collected before they are sent."""


class ReaderDied(Exception):
    """A copy ended before it had read its files."""


def can_read_ahead(found: Sequence[FoundFile]) -> int:
    """How many processes should read these files; 0 if this one should."""
    if sys.platform != "linux" or sum(each.size for each in found) < _WORTHWHILE:
        return 0
    from dragoman.drive.process.helper import WATCH  # rarely needed, and takes long to import

    if any(thread.name != WATCH for thread in threading.enumerate()[1:]):
        return 0  # a copy would have the locks of other threads, but not the threads
    return min((os.cpu_count() or 1) - 1, _MOST, len(found))


class ReadAhead:
    """Copies of this process that read files. ``close`` ends them."""

    def __init__(self, found: Sequence[FoundFile], copies: int, detach: Callable[[], None]) -> None:
        """``detach`` is called in each copy, and closes what belongs to the writer."""
        self._numbers = {each.path: number for number, each in enumerate(found)}
        self._next = 0
        self._copies: list[tuple[int, int]] = []
        for number in range(copies):
            self._copies.append(self._fork(found[number::copies], detach))

    def _fork(self, found: Sequence[FoundFile], detach: Callable[[], None]) -> tuple[int, int]:
        assert sys.platform == "linux"
        receiving, sending = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                detach()
                for handle in (receiving, *(handle for _, handle in self._copies)):
                    os.close(handle)
                _read_all(found, sending)
                code = 0
            except BrokenPipeError:
                code = 0  # the writer needs no more
            finally:
                os._exit(code)  # skip this program's exit handlers, whatever happened
        os.close(sending)
        return pid, receiving

    def take(
        self, tables: IndexTables, found: FoundFile, after: Callable[[int, int], None]
    ) -> int | None:
        """Write a file that a copy has read, as :func:`index_file` does; None for any other file.

        Raises what reading it raised, and ``ReaderDied``.
        """
        if self._numbers.get(found.path) != self._next:
            return None
        receiving = self._copies[self._next % len(self._copies)][1]
        self._next += 1
        row, bytes_read = None, 0
        while True:
            kind, number, size = _HEAD.unpack(_exactly(receiving, _HEAD.size))
            body = _exactly(receiving, size)
            if kind == _ERROR:
                raise OSError(number, body.decode() or os.strerror(number), found.path)
            bytes_read, recorded = marshal.loads(body)
            row = replay(tables, row, recorded)
            if kind == _END:
                return bytes_read
            after(number, bytes_read)

    def close(self) -> None:
        for pid, receiving in self._copies:
            assert sys.platform == "linux"
            os.close(receiving)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        self._copies = []


def _exactly(handle: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = os.read(handle, size)
        if not part:
            raise ReaderDied
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _read_all(found: Sequence[FoundFile], sending: int) -> None:
    """Read these files and send what they would write; this is all that a copy does."""
    import fcntl

    assert sys.platform == "linux"

    with suppress(OSError):  # a limit of the system: then it waits more often
        fcntl.fcntl(sending, fcntl.F_SETPIPE_SZ, _PIPE)
    with os.fdopen(sending, "wb", buffering=_FRAME) as out:
        for each in found:
            _read_one(each, out.write)
            out.flush()
    return None


def _read_one(found: FoundFile, write: Callable[[bytes], object]) -> None:
    recording = RecordedWrites()

    def send(kind: int, number: int, bytes_read: int) -> None:
        body = marshal.dumps((bytes_read, recording.take()))
        write(_HEAD.pack(kind, number, len(body)))
        write(body)

    def after(messages: int, bytes_read: int) -> None:
        send(_MORE, messages, bytes_read)

    try:
        bytes_read = index_file(recording.tables(), found, None, after)
    except OSError as problem:
        why = (problem.strerror or "").encode()
        write(_HEAD.pack(_ERROR, problem.errno or 0, len(why)))
        write(why)
        return
    send(_END, 0, bytes_read)
