"""Sharing work with copies of this process, where the system makes copies cheaply.

A copy has all that we have imported, so it can begin at once; what it has made comes back in a file in
memory when it is done. We work as well, and everybody takes the next portion when he is ready for it. A
copy that ends too early costs nothing but time: what it has not done, we do. None outlives us.
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
"""So many numbers are in a pipe at once for certain."""
_NUMBER: Final = struct.Struct("<I")
_FRAME: Final = struct.Struct("<IQ")
"""A portion's number, and how many bytes were made of it."""


def can_share() -> bool:
    """Whether copies pay here: elsewhere, one process is as quick as several."""
    return sys.platform == "linux" and threading.active_count() == 1


def share(
    portions: Sequence[_Portion], work: Callable[[_Portion], bytes], processes: int
) -> Generator[bytes, None, None]:
    """What ``work`` makes of each portion, in any order, by so many processes together."""
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
    """What a copy does, and all that it does."""
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
        os._exit(code)  # whatever happened, this is not our program's own end


def _next(taking: int) -> int | None:
    number = os.read(taking, _NUMBER.size)
    return _NUMBER.unpack(number)[0] if number else None


def _made(made: int) -> Iterator[tuple[int, bytes]]:
    """The whole results in a helper's file: the last may be cut short."""
    with os.fdopen(made, "rb") as file:
        file.seek(0)
        while len(head := file.read(_FRAME.size)) == _FRAME.size:
            number, size = _FRAME.unpack(head)
            result = file.read(size)
            if len(result) == size:
                yield number, result
