"""``dragoman usage`` beside ``ccusage``: the same files, the same run, and an oracle that knows the answer.

First the traps of ``corpus_traps.py``, one by one: what the oracle says, what we count, what ccusage counts.
Then speed, over a cold corpus (our cache is off) of sessions in the shape of real ones, with the traps among
them: wall and processor time of the whole program, taking turns, the best of several rounds. "Again" is how
everybody but the first time goes: with what the time before has kept.

``python benchmarks/usage.py --sessions 5000 --mb 2000 [--ccusage FOLDER] [--keep FOLDER]``. Without a folder
ccusage is installed into a temporary one with npm; without npm we are measured alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
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
_OURS = "import sys; from dragoman.cli.usage import usage; sys.exit(usage())"


class Contestant(NamedTuple):
    name: str
    command: list[str]


def contestants(ccusage: Path | None) -> list[Contestant]:
    command = [sys.executable, "-c", _OURS, "--json"]
    ours = Contestant("dragoman", [*command, "--no-cache"])
    again = Contestant("dragoman, again", command)
    if ccusage is None:
        return [ours, again]
    words = ["codex", "daily", "--offline", "--json"]
    launcher = ccusage / "node_modules" / ".bin" / "ccusage"
    native = ccusage / "node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"
    native.chmod(0o755)
    return [
        ours,
        again,
        Contestant("ccusage, native", [str(native), *words]),
        Contestant("ccusage, launcher", [str(launcher), *words]),
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


def run(command: list[str], home: Path) -> tuple[dict[str, Any], Spent]:
    cache = home.parent / f"{home.name}-cache"
    env = {**os.environ, "CODEX_HOME": str(home), "DRAGOMAN_CACHE": str(cache), "TZ": "UTC"}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.DEVNULL)
        _, _, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        out.seek(0)
        told = out.read()
    answer: dict[str, Any] = json.loads(told) if told.strip().startswith(b"{") else {}
    return answer, Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


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
        told = {racer.name: run(racer.command, home)[0] for racer in racers[:3]}
        answer = told["dragoman"]
        mine, silent = ours(answer), answer["total"]["silent_sessions"]
        is_right = mine == trap.total == ours(told["dragoman, again"]) and silent == trap.silent
        right = right and is_right
        other = theirs(told["ccusage, native"]) if len(racers) > 2 else NOTHING
        words = [f"{tokens[0] + tokens[3]:>12,}" for tokens in (trap.total, mine, other)]
        note = "" if is_right else "  WRONG"
        note += f"  {silent} sessions unknown" if silent else ""
        note += "" if len(racers) < 3 or other[:4] == trap.total[:4] else "  ccusage differs"
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


def speed(home: Path, racers: list[Contestant], rounds: int, right: Tokens) -> bool:
    files = list(home.rglob("*.jsonl*"))
    size = sum(path.stat().st_size for path in files)
    print(f"\n{len(files):,} files, {size / 1e6:,.0f} MB; {rounds} rounds, the best of each")
    times: dict[str, list[Spent]] = {racer.name: [] for racer in racers}
    told: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for racer in racers:
            told[racer.name], spent = run(racer.command, home)
            times[racer.name].append(spent)
    print(f"{'':20}{'wall s':>9}{'processor s':>13}{'MB':>7}{'ratio':>8}{'tokens':>18}")
    first = min(spent.wall for spent in times["dragoman"])
    for racer in racers:
        wall = min(spent.wall for spent in times[racer.name])
        processor = min(spent.processor for spent in times[racer.name])
        memory = max(spent.megabytes for spent in times[racer.name])
        tokens = ours(told[racer.name]) if "dragoman" in racer.name else theirs(told[racer.name])
        count = f"{tokens[0] + tokens[3]:>18,}"
        print(
            f"{racer.name:20}{wall:>9.2f}{processor:>13.2f}{memory:>7.0f}{wall / first:>8.2f}{count}"
        )
    print(f"{'the oracle':20}{'':37}{right[0] + right[3]:>18,}")
    return ours(told["dragoman"]) == right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=5000)
    parser.add_argument("--mb", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ccusage", type=Path, help="the folder that npm installed it into")
    parser.add_argument("--keep", type=Path, help="keep the corpus in this folder, or use it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        ccusage = options.ccusage or install(Path(scratch) / "npm")
        racers = contestants(ccusage)
        right = traps(Path(scratch) / "traps", racers)
        home = options.keep or Path(scratch) / "home"
        note = home / "oracle.json"
        if not note.exists():
            home.mkdir(parents=True, exist_ok=True)
            note.write_text(json.dumps(make_home(home, options.sessions, options.mb)))
        a, b, c, d, e = json.loads(note.read_text())
        right = speed(home, racers, options.rounds, (a, b, c, d, e)) and right
    print("\nevery count is the oracle's" if right else "\nA COUNT IS WRONG")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
