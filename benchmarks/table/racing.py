"""Time programs and functions against each other, in turn, so that a busy machine is busy for all of them.

The best of several rounds counts: other programs can only make a run slower.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_SECONDS = 120


class Spent(NamedTuple):
    """The best of several rounds, in seconds."""

    wall: float
    processor: float


class Command(NamedTuple):
    """A program to start, and what must be done before each start."""

    words: Sequence[str]
    env: Mapping[str, str] = {}
    before: Callable[[], Any] | None = None
    until_output: bool = False
    """Whether the time ends with the first byte on standard output."""


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    env = {**os.environ, **extra}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # with it, everything is compiled at every start
    return env


def race(commands: Mapping[str, Command], rounds: int) -> dict[str, Spent]:
    """Run commands in turn, after one round that does not count."""
    best: dict[str, Spent] = {}
    for number in range(rounds + 1):
        for name, command in commands.items():
            if command.before is not None:
                command.before()
            spent = _once(command)
            if number:
                old = best.get(name, spent)
                best[name] = Spent(*map(min, old, spent))
    return best


def _once(command: Command) -> Spent:
    out = subprocess.PIPE if command.until_output else subprocess.DEVNULL
    began = time.perf_counter()
    process = subprocess.Popen(
        list(command.words),
        env=environment(command.env),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.DEVNULL,
    )
    first = 0.0
    if process.stdout is not None:
        if not process.stdout.read(1):
            raise RuntimeError(f"no output: {' '.join(command.words)}")
        first = time.perf_counter() - began
        process.stdout.read()
        process.stdout.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: a search that found nothing
        raise RuntimeError(f"exit code {process.returncode}: {' '.join(command.words)}")
    wall = first or time.perf_counter() - began
    return Spent(wall, used.ru_utime + used.ru_stime)


def time_functions(functions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Spent]:
    """Call functions of this process in turn."""
    best: dict[str, Spent] = {}
    for number in range(rounds + 1):
        for name, function in functions.items():
            began, busy = time.perf_counter(), time.process_time()
            function()
            spent = Spent(time.perf_counter() - began, time.process_time() - busy)
            if number:
                best[name] = Spent(*map(min, best.get(name, spent), spent))
    return best
