"""Read many files, with several processors where that is faster.

Forked copies of this process read files as well and send their messages through pipes. A copy waits while
its pipe is full, so memory stays flat. If a copy dies, this process reads the rest of its files, from the
first message that has not arrived. No copy outlives the iteration.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import sys
import threading
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from io import FileIO
from itertools import islice
from typing import Any, Final, TypeAlias

import msgspec

from dragoman.errors import UnreadableSource
from dragoman.model.messages import Message
from dragoman.reading.read import read

_Path: TypeAlias = str | os.PathLike[str]
_WORTHWHILE: Final = 8_000_000
"""How many bytes must be read before another process is worthwhile."""
_MOST_PROCESSES: Final = 8
_MOST_FILES: Final = 4000
"""As many numbers as are sure to fit into a pipe's buffer."""
_MESSAGES: Final = 64
"""How many messages are sent, or read here, before the others are looked after."""
_PIPE: Final = 1 << 20
_NUMBER: Final = struct.Struct("<I")
_FRAME: Final = struct.Struct("<BIQ")
"""What follows, the number of its file, and its bytes."""
_PACKED, _PICKLED, _END, _UNREADABLE = range(4)
_encoder = msgspec.msgpack.Encoder()
_unpack = msgspec.msgpack.Decoder(list[Message]).decode


def read_many(
    paths: Iterable[_Path],
    *,
    dialect: str | None = None,
    only: Collection[str] | None = None,
    processes: int | None = None,
) -> Generator[tuple[str, Message], None, None]:
    """Yield every message of these files, each with the path of its file.

    Files are read with several processes where that is faster: on Linux, if this process has no other
    threads. ``processes`` limits their number, this one included; 1 reads here alone. The messages of
    one file come in order; those of files that are read at the same time come in turn. ``dialect`` and
    ``only`` are those of :func:`~dragoman.read`.
    """
    names = sorted([os.fspath(path) for path in paths], key=_size, reverse=True)
    options = {"dialect": dialect, "only": only}
    count = _processes(names, processes)
    if count < 2:
        for name in names:
            for message in read(name, **options):  # pyright: ignore[reportArgumentType]
                yield name, message
        return
    for begin in range(0, len(names), _MOST_FILES):
        yield from _Sharing(names[begin : begin + _MOST_FILES], options).read(count)


def _size(name: str) -> int:
    try:
        return os.stat(name).st_size
    except OSError:
        return 0


def _processes(names: Sequence[str], most: int | None) -> int:
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1  # a copy would have the locks of other threads, but not the threads
    if len(names) < 2 or sum(map(_size, names)) < _WORTHWHILE:
        return 1
    return min(os.cpu_count() or 1 if most is None else most, _MOST_PROCESSES, len(names))


class _Sharing:
    """Files that are read by several processes, the largest first."""

    def __init__(self, names: Sequence[str], options: dict[str, Any]) -> None:
        self._names = names
        self._options = options
        self._left = set(range(len(names)))
        self._arrived: dict[int, int] = {}
        """How many messages of each unfinished file have arrived from a copy."""
        self._copies: dict[int, int] = {}
        """The process at the other end of each pipe."""
        self._buffer = bytearray(_FRAME.size)

    def read(self, processes: int) -> Iterator[tuple[str, Message]]:
        taking, giving = os.pipe()
        try:
            for _ in range(processes - 1):
                self._fork(taking, giving)
            os.write(giving, b"".join(map(_NUMBER.pack, range(len(self._names)))))
            os.close(giving)
            giving = -1
            while (number := _next(taking)) is not None:
                yield from self._here(number)
            while self._copies:
                yield from self._receive(None)
            for number in sorted(self._left):
                yield from self._here(number)
        finally:
            self._close()
            os.close(taking)
            if giving >= 0:
                os.close(giving)

    def _here(self, number: int) -> Iterator[tuple[str, Message]]:
        """Read a file, or the rest of it, in this process."""
        name = self._names[number]
        messages = islice(read(name, **self._options), self._arrived.pop(number, 0), None)
        while batch := list(islice(messages, _MESSAGES)):
            for message in batch:
                yield name, message
            if self._copies:
                yield from self._receive(0.0)
        self._left.discard(number)

    def _receive(self, seconds: float | None) -> Iterator[tuple[str, Message]]:
        """Yield what has arrived from copies, waiting for it up to this long."""
        for receiving in select.select(list(self._copies), [], [], seconds)[0]:
            head = self._exactly(receiving, _FRAME.size)
            kind, number, size = _FRAME.unpack(head) if head is not None else (_END, -1, 0)
            body = self._exactly(receiving, size)
            if body is None or number < 0:
                self._end(receiving)
                continue
            if kind == _UNREADABLE:
                raise UnreadableSource(*pickle.loads(body))
            if kind == _END:
                self._left.discard(number)
                self._arrived.pop(number, None)
                continue
            messages: list[Message] = _unpack(body) if kind == _PACKED else pickle.loads(body)
            self._arrived[number] = self._arrived.get(number, 0) + len(messages)
            name = self._names[number]
            for message in messages:
                yield name, message

    def _exactly(self, receiving: int, size: int) -> memoryview | None:
        """So many bytes, valid until the next call; None if the other process ended before."""
        assert sys.platform == "linux"
        if len(self._buffer) < size:
            self._buffer = bytearray(size)
        view = memoryview(self._buffer)[:size]
        arrived = 0
        while arrived < size:
            count = os.readv(receiving, [view[arrived:]])
            if not count:
                return None
            arrived += count
        return view

    def _fork(self, taking: int, giving: int) -> None:
        assert sys.platform == "linux"
        receiving, sending = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                for handle in (giving, receiving, *self._copies):
                    os.close(handle)
                self._help(taking, sending)
                code = 0
            finally:
                os._exit(code)  # skip this program's exit handlers, whatever happened
        os.close(sending)
        self._copies[receiving] = pid

    def _help(self, taking: int, sending: int) -> None:
        """Read files until none is left; this is all that a copy does."""
        import fcntl

        assert sys.platform == "linux"
        with suppress(OSError):  # a limit of the system: then it waits more often
            fcntl.fcntl(sending, fcntl.F_SETPIPE_SZ, _PIPE)
        with os.fdopen(sending, "wb", buffering=0) as out:
            frame = bytearray()
            while (number := _next(taking)) is not None:
                try:
                    messages = iter(read(self._names[number], **self._options))
                    while batch := list(islice(messages, _MESSAGES)):
                        _send(out, frame, _pack_into(frame, batch), number)
                    frame[_FRAME.size :] = b""
                    _send(out, frame, _END, number)
                except UnreadableSource as problem:
                    frame[_FRAME.size :] = pickle.dumps((problem.source, problem.problem))
                    _send(out, frame, _UNREADABLE, number)

    def _end(self, receiving: int, *, kill: bool = False) -> None:
        assert sys.platform == "linux"
        pid = self._copies.pop(receiving)
        os.close(receiving)
        if kill:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)

    def _close(self) -> None:
        for receiving in list(self._copies):
            self._end(receiving, kill=True)


def _next(taking: int) -> int | None:
    number = os.read(taking, _NUMBER.size)
    return _NUMBER.unpack(number)[0] if number else None


def _pack_into(frame: bytearray, batch: list[Message]) -> int:
    """Put messages into a frame, behind its head. The memory is used again and again."""
    try:
        _encoder.encode_into(batch, frame, _FRAME.size)
    except (ValueError, OverflowError, RecursionError):  # half a surrogate, or a number of 70 bits
        frame[_FRAME.size :] = pickle.dumps(batch)
        return _PICKLED
    return _PACKED


def _send(out: FileIO, frame: bytearray, kind: int, number: int) -> None:
    size = len(frame) - _FRAME.size
    if size < 0:
        frame.extend(bytes(-size))
        size = 0
    _FRAME.pack_into(frame, 0, kind, number, size)
    with memoryview(frame) as rest:
        sent = 0
        while sent < len(rest):
            sent += out.write(rest[sent:])
