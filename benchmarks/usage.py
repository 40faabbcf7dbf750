"""``dragoman usage`` beside ``ccusage``: the same files, the same run, and an oracle that knows the answer.

First the traps of ``corpus_traps.py``, one by one: what the oracle says, what we count, what ccusage counts.
Then speed, over a corpus of sessions in the shape of real ones, with the traps among them: wall and processor
time of the whole program, taking turns, the median of several rounds after one that does not count. "Cold" reads
every file, "first" also writes down what it has read, into an empty folder; "again" is how everybody but the
first time goes. Files are in the system's memory for all alike. Memory is that of the largest process, and
of all processes together, each page once.

``python benchmarks/usage.py --sessions 5000 --mb 2000 [--ccusage FOLDER] [--keep FOLDER]``. Without a folder
ccusage is installed into a temporary one with npm; without npm we are measured alone. A folder that
``indexing.py --keep`` has left can be given as well: the oracle is then the last total in each of its files.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import corpus
import corpus_traps
from corpus_session import Session
from corpus_traps import NOTHING, Tokens, plus

_VERSION = "20.0.24"
_OURS = "from dragoman.cli.main import run; run()"
_COLD, _FIRST, _AGAIN = "dragoman, cold", "dragoman, first", "dragoman, again"
_NATIVE, _LAUNCHER = "ccusage, native", "ccusage, launcher"


class Contestant(NamedTuple):
    name: str
    command: list[str]

    @property
    def is_ours(self) -> bool:
        return self.name.startswith("dragoman")


def contestants(ccusage: Path | None) -> list[Contestant]:
    command = [sys.executable, "-c", _OURS, "usage", "--json"]
    racers = [
        Contestant(_COLD, [*command, "--no-cache"]),
        Contestant(_FIRST, command),
        Contestant(_AGAIN, command),
    ]
    if ccusage is None:
        return racers
    words = ["codex", "daily", "--offline", "--json"]
    launcher = ccusage / "node_modules" / ".bin" / "ccusage"
    native = ccusage / "node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"
    native.chmod(0o755)
    return [
        *racers,
        Contestant(_NATIVE, [str(native), *words]),
        Contestant(_LAUNCHER, [str(launcher), *words]),
    ]


def install(folder: Path) -> Path | None:
    if shutil.which("npm") is None:
        return None
    packages = [f"ccusage@{_VERSION}", f"@ccusage/ccusage-linux-x64@{_VERSION}"]
    done = subprocess.run(["npm", "i", "--prefix", str(folder), *packages], capture_output=True)
    return folder if done.returncode == 0 else None


class Spent(NamedTuple):
    wall: float
    processor: float
    megabytes: float
    """Of the largest process."""


class Track:
    """Where contestants run: a home, and folders for what our program keeps."""

    def __init__(self, home: Path, scratch: Path) -> None:
        self._scratch = scratch
        # An empty HOME: no sessions of other agents on this machine.
        empty = scratch / "no home"
        empty.mkdir(exist_ok=True)
        places = {"CODEX_HOME": str(home), "HOME": str(empty)}
        self._env = {**os.environ, **places, "TZ": "UTC"}
        # As an installed program has it: the first run leaves its bytecode to the next.
        self._env.pop("PYTHONDONTWRITEBYTECODE", None)
        self._env["PYTHONPYCACHEPREFIX"] = str(scratch / "bytecode")

    def start(self, racer: Contestant, out: Any) -> subprocess.Popen[bytes]:
        cache = self._scratch / f"cache of {racer.name}"
        if racer.name == _FIRST:
            shutil.rmtree(cache, ignore_errors=True)
        env = {**self._env, "DRAGOMAN_CACHE": str(cache)}
        return subprocess.Popen(racer.command, env=env, stdout=out, stderr=subprocess.DEVNULL)

    def run(self, racer: Contestant) -> tuple[dict[str, Any], Spent]:
        with tempfile.TemporaryFile() as out:
            began = time.perf_counter()
            process = self.start(racer, out)
            _, _, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            process.returncode = 0  # waited for above
            out.seek(0)
            told = out.read()
        answer: dict[str, Any] = json.loads(told) if told.strip().startswith(b"{") else {}
        return answer, Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)

    def megabytes_of_all(self, racer: Contestant) -> float:
        """The most that all processes hold at once, pages that they share counted once."""
        most = 0
        with self.start(racer, subprocess.DEVNULL) as process:
            while process.poll() is None:
                most = max(most, sum(map(_kilobytes, family(process.pid))))
                time.sleep(0.005)
        return most / 1024


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        found = [Path(f"/proc/{pid}/task/{each}/children").read_text() for each in threads]
    except OSError:
        return []
    children = [int(each) for text in found for each in text.split()]
    return [pid, *(each for child in children for each in family(child))]


def _kilobytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def ours(answer: Mapping[str, Any]) -> Tokens:
    usage: dict[str, int] = answer["total"]["usage"] or {}
    return (
        usage.get("input_tokens", 0),
        usage.get("cached_input_tokens", 0),
        usage.get("cache_write_input_tokens", 0),
        usage.get("output_tokens", 0),
        usage.get("reasoning_output_tokens", 0),
    )


def theirs(answer: Mapping[str, Any]) -> Tokens:
    """Their input is what was not read from the cache."""
    total: dict[str, int] = answer.get("totals") or {}
    cached = total.get("cacheReadTokens", 0)
    return (
        total.get("inputTokens", 0) + cached,
        cached,
        total.get("cacheCreationTokens", 0),
        total.get("outputTokens", 0),
        total.get("reasoningOutputTokens", 0),
    )


def traps(scratch: Path, racers: list[Contestant]) -> bool:
    print(f"{'input and output tokens':28}{'oracle':>12}{'dragoman':>12}{'ccusage':>12}")
    right = True
    for hour, make in enumerate(corpus_traps.TRAPS):
        home = scratch / make.__name__
        trap = corpus_traps.write(home, make, hour)
        track = Track(home, scratch)
        told = {racer.name: track.run(racer)[0] for racer in racers if racer.name != _LAUNCHER}
        answer = told[_COLD]
        mine, silent = ours(answer), answer["total"]["silent_sessions"]
        same = all(ours(told[racer.name]) == trap.total for racer in racers if racer.is_ours)
        is_right = same and silent == trap.silent
        right = right and is_right
        other = theirs(told[_NATIVE]) if _NATIVE in told else NOTHING
        words = [f"{tokens[0] + tokens[3]:>12,}" for tokens in (trap.total, mine, other)]
        note = "" if is_right else "  WRONG"
        note += f"  {silent} sessions unknown" if silent else ""
        note += "" if _NATIVE not in told or other[:4] == trap.total[:4] else "  ccusage differs"
        print(f"{trap.name:28}{''.join(words)}{note}")
    return right


def make_home(home: Path, sessions: int, megabytes: int) -> Tokens:
    """Sessions of all sizes, most of them small, with the traps among them; what they have spent."""
    pool = corpus.bodies()
    total = NOTHING
    for hour, make in enumerate(corpus_traps.TRAPS):
        total = plus(total, corpus_traps.write(home, make, hour).total)
    mean = megabytes * 1_000_000 // sessions
    for seed in range(sessions):
        day = home / "sessions" / "2026" / "11" / f"{11 + seed % 5}"
        day.mkdir(parents=True, exist_ok=True)
        # One in ten is long: it holds about two thirds of all bytes.
        size = int(mean * (6.5 if seed % 10 == 0 else 0.39))
        session = Session(seed, pool, paginated=seed % 2 == 1)
        written = 0
        with (day / f"rollout-{session.id}.jsonl").open("wb") as file:
            for row in session.rows():
                written += file.write(row)
                if written >= size:
                    break
        a, b, c, d, e, _ = session._total.values()
        total = plus(total, (a, b, c, d, e))
    return total


def last_totals(home: Path) -> Tokens:
    """What sessions have spent that were made without a word on it: each file's last total."""
    total = NOTHING
    for path in home.rglob("*.jsonl"):
        rows = [line for line in path.read_bytes().split(b"\n") if _TOTAL.search(line)]
        if rows:
            told = json.loads(rows[-1])["payload"]
            # A file may end between the record of a response and the count that repeats it.
            usage = told.get("thread_token_usage") or told["info"]["total_token_usage"]
            a, b, c, d, e, _ = usage.values()
            total = plus(total, (a, b, c, d, e))
    return total


_TOTAL = re.compile(rb'"(?:thread_token_usage|total_token_usage)":')


def speed(track: Track, home: Path, racers: list[Contestant], rounds: int, right: Tokens) -> bool:
    files = list(home.rglob("*.jsonl*"))
    size = sum(path.stat().st_size for path in files)
    print(f"\n{len(files):,} files, {size / 1e6:,.0f} MB; {rounds} rounds, the median of each")
    times: dict[str, list[Spent]] = {racer.name: [] for racer in racers}
    told: dict[str, dict[str, Any]] = {}
    for number in range(rounds + 1):
        for racer in racers:
            told[racer.name], spent = track.run(racer)
            if number:
                times[racer.name].append(spent)
    columns = ("wall s", "processor s", "MB", "MB of all", "wall", "processor", "tokens")
    print(
        " " * 20 + "".join(f"{word:>{width}}" for word, width in zip(columns, _WIDTHS, strict=True))
    )
    base = _NATIVE if _NATIVE in times else _COLD
    for racer in racers:
        wall, processor = (_median(times[racer.name], place) for place in (0, 1))
        tokens = ours(told[racer.name]) if racer.is_ours else theirs(told[racer.name])
        words = (
            f"{wall:.2f}",
            f"{processor:.2f}",
            f"{max(spent.megabytes for spent in times[racer.name]):.0f}",
            f"{track.megabytes_of_all(racer):.0f}",
            f"{wall / _median(times[base], 0):.2f}",
            f"{processor / _median(times[base], 1):.2f}",
            f"{tokens[0] + tokens[3]:,}",
        )
        print(
            f"{racer.name:20}"
            + "".join(f"{word:>{width}}" for word, width in zip(words, _WIDTHS, strict=True))
        )
    print(f"{'the oracle':20}{f'{right[0] + right[3]:,}':>{sum(_WIDTHS)}}")
    return all(ours(told[racer.name]) == right for racer in racers if racer.is_ours)


_WIDTHS = (9, 13, 6, 11, 7, 11, 18)


def _median(spent: list[Spent], place: int) -> float:
    return statistics.median(each[place] for each in spent)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=5000)
    parser.add_argument("--mb", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ccusage", type=Path, help="the folder that npm installed it into")
    parser.add_argument("--keep", type=Path, help="keep the corpus in this folder, or use it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        racers = contestants(options.ccusage or install(scratch / "npm"))
        right = traps(scratch / "traps", racers)
        home = options.keep or scratch / "home"
        note = home / "oracle.json"
        if note.exists():
            a, b, c, d, e = json.loads(note.read_text())
            spent = (a, b, c, d, e)
        elif (home / "sessions").exists():
            spent = last_totals(home)
        else:
            home.mkdir(parents=True, exist_ok=True)
            spent = make_home(home, options.sessions, options.mb)
            note.write_text(json.dumps(spent))
        track = Track(home, scratch)
        right = speed(track, home, racers, options.rounds, spent) and right
    print("\nevery count is the oracle's" if right else "\nA COUNT IS WRONG")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
