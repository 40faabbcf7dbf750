"""What reading costs, beside bare ``orjson.loads`` of each line: ``make bench``.

Everything is measured in one run, on one corpus that is made here, and given as a ratio: 1.0 means as
fast as ``for line in open(path, "rb"): orjson.loads(line)``, which decodes every line and understands
none. For each file the contestants take turns, several rounds, and the best time of each counts.

The plain loop reads with Python's small default buffer. The same loop with a buffer of 1 MiB is
quicker, so the ratio to that is given, too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path

import orjson

import corpus
import dragoman

_BIG_BUFFER = 1 << 20


def bare(path: Path) -> None:
    with open(path, "rb") as file:
        for line in file:
            orjson.loads(line)


def bare_big_buffer(path: Path) -> None:
    with open(path, "rb", buffering=_BIG_BUFFER) as file:
        for line in file:
            orjson.loads(line)


def reading(only: Collection[str] | None) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        for _ in dragoman.read(path, only=only):
            pass

    return read


_READERS: dict[str, tuple[Callable[[Path], None], float]] = {
    "every message, fully typed": (reading(None), 0.65),
    'only={"usage"}': (reading({"usage"}), 2.0),
    'only={"prompt", "text"}': (reading({"prompt", "text"}), 1.2),
}
_BARE_CODE = "import orjson\nfor line in open({path!r}, 'rb'): orjson.loads(line)"


def best_times(paths: list[Path], rounds: int) -> dict[str, float]:
    ways = {"bare": bare, "bare, 1 MiB buffer": bare_big_buffer}
    ways |= {name: reader for name, (reader, _) in _READERS.items()}
    total = dict.fromkeys(ways, 0.0)
    for path in paths:
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(rounds):
            for name, way in ways.items():
                began = time.perf_counter()
                way(path)
                best[name] = min(best[name], time.perf_counter() - began)
        for name in ways:
            total[name] += best[name]
    return total


def seconds(command: list[str], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - began)
    return best


def megabytes(code: str) -> float:
    """The peak of a fresh interpreter's memory, as Linux counts it (``ru_maxrss`` is inherited)."""
    peak = "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    command = [sys.executable, "-c", f"{code}\n{peak}"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(told.split()[-2]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=500, help="size of the corpus")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="keep the corpus in this folder, or use it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        paths = sorted(folder.glob("*.jsonl")) if options.keep and options.keep.exists() else []
        paths = paths or corpus.make(folder, options.mb)
        report(paths, options.rounds)
    return 0


def report(paths: list[Path], rounds: int) -> None:
    size = sum(path.stat().st_size for path in paths)
    rows = sum(path.read_bytes().count(b"\n") for path in paths)
    print(
        f"{len(paths)} sessions, {size / 1e6:.0f} MB, {rows:,} rows of {size / rows:,.0f} bytes\n"
    )
    times = best_times(paths, rounds)
    head = f"{'reading':32}{'µs/row':>8}{'ratio':>8}{'target':>8}{'to 1 MiB buffer':>18}"
    print(head)
    for name, spent in times.items():
        target = f"{_READERS[name][1]:.2f}" if name in _READERS else ""
        ratios = f"{times['bare'] / spent:>8.2f}{target:>8}"
        other = f"{times['bare, 1 MiB buffer'] / spent:>18.2f}"
        print(f"{name:32}{spent / rows * 1e6:>8.2f}{ratios}{other}")

    long = max(paths, key=lambda path: path.stat().st_size)
    plain = seconds([sys.executable, "-c", _BARE_CODE.format(path=str(long))], rounds)
    command = Path(sys.executable).with_name("dragoman")
    convert = [str(command), "convert", str(long), "--to", "messages", "-o", "/dev/null"]
    ratio = plain / seconds(convert, rounds)
    print(f"{'convert --to messages':32}{'':8}{ratio:>8.2f}{0.35:>8.2f}")

    print(f"\n{'memory beyond an empty interpreter':40}{'MB':>6}{'at most':>10}")
    empty = megabytes("pass")
    for path in (min(paths, key=lambda path: path.stat().st_size), long):
        code = f"import dragoman\nfor message in dragoman.read({str(path)!r}): pass"
        what = f"reading {path.stat().st_size / 1e6:,.0f} MB"
        print(f"{what:40}{megabytes(code) - empty:>6.0f}{80:>10}")


if __name__ == "__main__":
    sys.exit(main())
