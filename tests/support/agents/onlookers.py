"""Looks at processes from outside: which ones run, how much memory they took, when they are gone."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

BOUND = 5.0
"""Seconds after which no process may be left."""


def marked(mark: str) -> list[int]:
    """The living processes that have this in their environment or in their command line."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        text = _read(name, "environ") + _read(name, "cmdline")
        if mark.encode() in text and b") Z " not in _read(name, "stat"):
            found.append(int(name))
    return found


def _read(pid: str, what: str) -> bytes:
    try:
        return Path("/proc", pid, what).read_bytes()
    except OSError:
        return b""


def is_alive(pid: int) -> bool:
    stat = _read(str(pid), "stat")
    return bool(stat) and b") Z " not in stat


def wait_until(holds: Callable[[], bool], seconds: float = BOUND) -> float:
    """Wait until it holds, and return how long that took; fails after so many seconds."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, "it did not happen in time"
        time.sleep(0.02)
    return time.monotonic() - began


def peak_megabytes(pid: int | str = "self") -> float:
    """The most memory that a process ever held."""
    for line in Path("/proc", str(pid), "status").read_text(encoding="ascii").split("\n"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmHWM")


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait for it; bounded by the caller."""
    while not holds():  # noqa: ASYNC110  there is no event to wait for
        await asyncio.sleep(0.01)
