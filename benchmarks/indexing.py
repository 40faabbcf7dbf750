"""What the archive costs, beside what it must be measured against: ``python benchmarks/indexing.py``.

On a corpus that is made here (5,000 sessions, 2 GB; less with ``--sessions`` and ``--gb``; ``--huge`` adds
one session of so many gigabytes, nine tenths of it compactions with images), in one run:

* the first index, as a ratio to bare ``orjson.loads`` over the same bytes, by processor time;
* the index's size beside the text in it, and the most memory that building it took;
* a list after a warm start beside ``python -c pass``;
* searches for a rare word, a common one, a phrase and a prefix, inside the process;
* one row appended to a small file and to the largest one, until it is found;
* opening the last turn of the largest session.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

import corpus
from corpus_session import Session
from dragoman.archive.api import SessionArchive
from dragoman.archive.index.text import index_text
from dragoman.reading.read import read

_LIST = "import dragoman.cli.main as m\nm.run()"
_INDEX = """
import sys, time
from dragoman.archive.api import SessionArchive
began = time.process_time(), time.perf_counter()
SessionArchive(home=sys.argv[1], cache=sys.argv[2]).index()
print(time.process_time() - began[0], time.perf_counter() - began[1])
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
_BARE = """
import sys, time, orjson
from pathlib import Path
began = time.process_time()
for path in Path(sys.argv[1]).rglob("*.jsonl"):
    with open(path, "rb") as file:
        for line in file:
            orjson.loads(line)
print(time.process_time() - began)
"""


def make(home: Path, sessions: int, gigabytes: float) -> None:
    """A home with so many sessions: most of them short, a few long."""
    pool = corpus.bodies()
    chance = random.Random(1)
    weights = [chance.lognormvariate(0, 1.2) for _ in range(sessions)]
    scale = gigabytes * 1e9 / sum(weights)
    for seed, weight in enumerate(weights):
        folder = (
            home / "sessions" / "2026" / f"{seed // 140 % 12 + 1:02}" / f"{seed // 5 % 28 + 1:02}"
        )
        folder.mkdir(parents=True, exist_ok=True)
        name = Session(seed, pool, paginated=False).id
        path = folder / f"rollout-2026-11-15T09-00-00-{name}.jsonl"
        size = max(20_000, int(weight * scale))
        corpus.write(path, seed, pool, paginated=seed % 2 == 1, size=size)


def make_huge(home: Path, gigabytes: float) -> Path:
    """One session that is nine tenths compactions, each with the same images."""
    pool = corpus.bodies()
    session = Session(60_000, pool, paginated=False)
    folder = home / "sessions" / "2026" / "12" / "31"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-2026-12-31T09-00-00-{session.id}.jsonl"
    image = base64.b64encode(random.Random(2).randbytes(600_000)).decode()
    content = [{"type": "input_image", "image_url": f"data:image/png;base64,{image}"}]
    history = [{"type": "message", "role": "user", "content": content}]
    payload = {"message": "so far, so good", "replacement_history": history}
    compacted = session._row("compacted", payload)
    written = 0
    with path.open("wb") as file:
        for row in session.rows():
            written += file.write(row)
            if b'"type":"task_complete"' in row:
                for _ in range(1 + int(9 * 180_000 / len(compacted))):
                    written += file.write(compacted)
            if written >= gigabytes * 1e9:
                return path
    return path


def run(code: str, *arguments: str | Path, **environment: str) -> str:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    given = {**os.environ, **environment}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # whoever has it compiles everything every time
    return subprocess.run(command, check=True, capture_output=True, text=True, env=given).stdout


def best(measured: Callable[[], Any], rounds: int) -> float:
    seconds = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        measured()
        seconds = min(seconds, time.perf_counter() - began)
    return seconds


def tell(what: str, value: str, target: str) -> None:
    print(f"{what:58}{value:>14}   {target}", flush=True)


def text_size(home: Path) -> int:
    """How much text is in the index."""
    count = 0
    for path in home.rglob("*.jsonl"):
        for message in read(path):
            words = index_text(message)
            count += len(words.body.encode("utf-8", "replace")) if words else 0
    return count


def building(home: Path, cache: Path, *, sizes: bool) -> None:
    bare = min(float(run(_BARE, home)) for _ in range(2))
    told = run(_INDEX, home, cache).split()
    busy, took, memory = float(told[0]), float(told[1]), int(told[2]) / 1024
    tell("first index, as a ratio to bare orjson.loads", f"{bare / busy:.3f}", "at least 0.12")
    size = sum(path.stat().st_size for path in home.rglob("*.jsonl"))
    tell("first index", f"{size / 1e6 / took:.0f} MB/s", f"{took:.1f} s")
    tell("most memory", f"{memory:.0f} MB", "at most 150")
    if sizes:
        index = sum(path.stat().st_size for path in cache.rglob("index.sqlite3"))
        text = text_size(home)
        tell(f"size beside {text / 1e6:.0f} MB of text", f"{index / text:.3f}", "at most 0.35")


def listing(home: Path, cache: Path, rounds: int) -> None:
    # An empty HOME: no sessions of other agents on this machine.
    environment = {"CODEX_HOME": str(home), "DRAGOMAN_CACHE": str(cache), "HOME": str(cache)}
    nothing = best(lambda: run("pass"), rounds)
    listed = best(lambda: run(_LIST, "sessions", **environment), rounds)
    most = 2 * nothing + 0.05
    tell(
        "a list, warm",
        f"{listed * 1000:.0f} ms",
        f"at most {most * 1000:.0f} (pass: {nothing * 1000:.0f})",
    )


def searching(archive: SessionArchive, rounds: int) -> None:
    archive.search("warm")
    for what, query, most in (
        ("a rare word", "zygomorphic OR fsencode", 20),
        ("a common word", "self", 50),
        ("a phrase", '"import os"', 50),
        ("a prefix", "deprec*", 50),
    ):
        took = best(lambda query=query: archive.search(query), rounds)
        tell(f"search: {what}", f"{took * 1000:.1f} ms", f"at most {most}")


def appending(archive: SessionArchive, paths: list[Path]) -> None:
    for path in paths:
        word = f"zebra{path.stat().st_size}"
        row = {
            "timestamp": "2026-12-31T10:00:00.000Z",
            "type": "event_msg",
            "payload": {"type": "agent_message", "message": word},
        }
        with path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
        began = time.perf_counter()
        report = archive.index()
        hits = archive.search(word).hits
        took = time.perf_counter() - began
        assert hits
        assert report is not None
        size = f"{path.stat().st_size / 1e6:,.1f} MB"
        tell(
            f"a row appended to {size}, found after",
            f"{took * 1000:.0f} ms",
            f"{report.bytes_read:,} bytes read",
        )


def opening(archive: SessionArchive, path: Path) -> None:
    session = archive.get(path.stem[-36:])
    took = best(lambda: list(session.last_turn()), 3)
    tell(f"last turn of {path.stat().st_size / 1e6:,.0f} MB", f"{took * 1000:.1f} ms", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=5000)
    parser.add_argument("--gb", type=float, default=2.0)
    parser.add_argument("--huge", type=float, default=0.0, help="gigabytes of one more session")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--keep", type=Path, help="keep the corpus in this folder, or use it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = options.keep or Path(scratch) / "home"
        cache = Path(scratch) / "cache"
        if not home.exists():
            make(home, options.sessions, options.gb)
        paths = sorted(home.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
        size = sum(path.stat().st_size for path in paths)
        print(f"{len(paths):,} sessions, {size / 1e6:,.0f} MB\n")
        building(home, cache, sizes=True)
        listing(home, cache, options.rounds)
        with SessionArchive(home=home, cache=cache) as archive:
            archive.index()
            searching(archive, options.rounds)
            opening(archive, paths[-1])
            before = {path: path.stat().st_size for path in (paths[0], paths[-1])}
            appending(archive, [paths[0], paths[-1]])
        for path, length in before.items():
            os.truncate(path, length)
        if options.huge:
            huge(Path(scratch), options.huge)
    return 0


def huge(scratch: Path, gigabytes: float) -> None:
    home, cache = scratch / "huge", scratch / "huge-cache"
    path = make_huge(home, gigabytes)
    print(f"\none session of {path.stat().st_size / 1e6:,.0f} MB, mostly compactions with images\n")
    building(home, cache, sizes=False)
    with SessionArchive(home=home, cache=cache) as archive:
        archive.index()
        opening(archive, path)
        appending(archive, [path])
    shutil.rmtree(home)


if __name__ == "__main__":
    assert orjson.__version__  # what the first index is measured against
    sys.exit(main())
