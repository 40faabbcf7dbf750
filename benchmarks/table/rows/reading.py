"""Reading session files, beside a loop that decodes every line with orjson and understands none."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import orjson

import dragoman
from table import homes
from table.figures import Figure
from table.racing import Spent, time_functions

_BIG = 1 << 20


def _bare(paths: Sequence[Path], buffering: int) -> Callable[[], None]:
    def read() -> None:
        for path in paths:
            with open(path, "rb", buffering=buffering) as file:
                for line in file:
                    orjson.loads(line)

    return read


def _ours(paths: Sequence[Path], only: Collection[str] | None = None) -> Callable[[], None]:
    def read() -> None:
        for path in paths:
            for _ in dragoman.read(path, only=only):
                pass

    return read


def _race(paths: Sequence[Path], only: Collection[str] | None = None) -> tuple[float, float]:
    """The ratio to the loop with a buffer of 1 MiB, and with Python's own.

    Each file is a race of its own, so that a busy moment costs one file and not the whole figure.
    """
    total = {"big": 0.0, "small": 0.0, "ours": 0.0}
    for path in paths:
        times: dict[str, Spent] = time_functions(
            {
                "big": _bare([path], _BIG),
                "small": _bare([path], -1),
                "ours": _ours([path], only),
            },
            6,
        )
        for name, spent in times.items():
            total[name] += spent.processor
    return total["big"] / total["ours"], total["small"] / total["ours"]


def reading(_scratch: Path) -> Iterator[Figure]:
    files = homes.reading(120)
    for name, kind, only, target in (
        ("read everything / orjson, 1 MiB buffer", "all", None, 0.52),
        ("… outputs without a header", "without headers", None, 0.25),
        ("… files under 100 KB", "small", None, 0.4),
        ('… only={"usage"}', "all", {"usage"}, 1.7),
    ):
        big, small = _race(files[kind], only)
        note = f"default buffer: {small:.2f}x" + (" (≥ 0.72x)" if target == 0.52 else "")
        yield Figure(name, big, target, "higher", note=note)


def both_cores(_scratch: Path) -> Iterator[Figure]:
    """A folder read with all processors, beside the same function with one."""
    paths = homes.reading(120)["all"]

    def read(processes: int | None) -> Callable[[], None]:
        def work() -> None:
            for _ in dragoman.read_many(paths, processes=processes):
                pass

        return work

    times = time_functions({"one": read(1), "all": read(None)}, 4)
    ratio = times["one"].wall / times["all"].wall
    note = f"{os.cpu_count()} processors"
    yield Figure("read_many(), all processors / one", ratio, 1.7, "higher", note=note)
