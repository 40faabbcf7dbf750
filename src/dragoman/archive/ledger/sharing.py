"""Share work with forked copies of this process, where forking is cheap.

A copy has everything already imported, so it starts immediately; it returns its results in an
in-memory file. This process works as well, and each process takes the next portion when it is
ready. If a copy dies, this process does its remaining work. No copy outlives this process.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from typing import Final, NoReturn, TypeVar

_Portion = TypeVar("_Portion")

MOST_PORTIONS: Final = 4000
"""As many numbers as are sure to fit into a pipe's buffer."""
_NUMBER: Final = struct.Struct("<I")
_FRAME: Final = struct.Struct("<IQ")
"""The number of a portion, and the size of its result."""


def can_share() -> bool:
    """Whether forking is safe and worthwhile here."""
    return sys.platform == "linux" and threading.active_count() == 1


def share(
    portions: Sequence[_Portion], work: Callable[[_Portion], bytes], processes: int
) -> Generator[bytes, None, None]:
    """Yield the result of ``work`` for each portion, in any order, using several processes."""
    if processes < 2 or sys.platform != "linux":
        yield from map(work, portions)
        return
    taking, giving = os.pipe()
    helpers: dict[int, int] = {}
    try:
        for _ in range(processes - 1):
            made = os.memfd_create("dragoman")
            pid = os.fork()
            if pid == 0:
                os.close(giving)
                _help(portions, work, taking, made)
            helpers[pid] = made
        os.write(giving, b"".join(map(_NUMBER.pack, range(len(portions)))))
        os.close(giving)
        giving = -1
        left = set(range(len(portions)))
        while (number := _next(taking)) is not None:
            left.discard(number)
            yield work(portions[number])
        while helpers:
            pid, made = next(iter(helpers.items()))
            os.waitpid(pid, 0)
            del helpers[pid]
            for number, result in _made(made):
                left.discard(number)
                yield result
        for number in left:
            yield work(portions[number])
    finally:
        for pid, made in helpers.items():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(made)
        os.close(taking)
        if giving >= 0:
            os.close(giving)


def _help(
    portions: Sequence[_Portion], work: Callable[[_Portion], bytes], taking: int, made: int
) -> NoReturn:
    """Work on portions until none is left; this is all that a copy does."""
    parent = os.getppid()
    code = 1
    try:
        with os.fdopen(made, "wb") as file:
            while os.getppid() == parent and (number := _next(taking)) is not None:
                result = work(portions[number])
                file.write(_FRAME.pack(number, len(result)))
                file.write(result)
        code = 0
    finally:
        os._exit(code)  # skip this program's exit handlers, whatever happened


def _next(taking: int) -> int | None:
    number = os.read(taking, _NUMBER.size)
    return _NUMBER.unpack(number)[0] if number else None


def _made(made: int) -> Iterator[tuple[int, bytes]]:
    """Yield the complete results in a copy's file; the last one may be truncated."""
    with os.fdopen(made, "rb") as file:
        file.seek(0)
        while len(head := file.read(_FRAME.size)) == _FRAME.size:
            number, size = _FRAME.unpack(head)
            result = file.read(size)
            if len(result) == size:
                yield number, result
