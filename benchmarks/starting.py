"""How long it takes to start, beside a bare interpreter: ``make bench``."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

_ROUNDS = 25
_PROGRAM = str(Path(sys.executable).with_name("dragoman"))
_COMMANDS = {
    "python -c pass": ([sys.executable, "-c", "pass"], None),
    'python -c "import dragoman"': ([sys.executable, "-c", "import dragoman"], 80),
    "… and read one line": (
        [sys.executable, "-c", "import dragoman; list(dragoman.read([b'{}\\n']))"],
        None,
    ),
    "dragoman --help": ([_PROGRAM, "--help"], 150),
}


def milliseconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def main() -> int:
    times: dict[str, list[float]] = {name: [] for name in _COMMANDS}
    for _ in range(_ROUNDS):
        for name, (command, _) in _COMMANDS.items():
            times[name].append(milliseconds(command))
    bare = statistics.median(times["python -c pass"])
    print(f"{'starting':32}{'ms':>6}{'more than bare':>16}{'at most':>9}")
    for name, (_, most) in _COMMANDS.items():
        median = statistics.median(times[name])
        print(f"{name:32}{median:>6.0f}{median - bare:>16.0f}{most or '':>9}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
