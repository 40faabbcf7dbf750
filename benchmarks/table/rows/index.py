"""The index: building it, and searching it within a process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from dragoman.archive.api import SessionArchive
from table import homes
from table.figures import Figure
from table.racing import Command, environment, race, time_functions

_INDEX = """
import sys
from dragoman.archive.api import SessionArchive
SessionArchive(home=sys.argv[1], cache=sys.argv[2]).index()
"""
_BARE = """
import sys, orjson
from pathlib import Path
for path in Path(sys.argv[1]).rglob("*.jsonl"):
    with open(path, "rb", buffering=1 << 20) as file:
        for line in file:
            orjson.loads(line)
"""


def first_index(scratch: Path) -> Iterator[Figure]:
    home, _ = homes.codex(300, 505)
    cache = scratch / "first-index"

    def forget() -> None:
        shutil.rmtree(cache, ignore_errors=True)

    python = sys.executable
    times = race(
        {
            "bare": Command([python, "-c", _BARE, str(home)]),
            "index": Command([python, "-c", _INDEX, str(home), str(cache)], before=forget),
        },
        2,
    )
    ratio = times["bare"].wall / times["index"].wall
    note = f"CPU {times['bare'].processor / times['index'].processor:.2f}x"
    yield Figure("first index, 505 MB / orjson, 1 MiB", ratio, 0.2, "higher", note=note)


def prefix_search(scratch: Path) -> Iterator[Figure]:
    home, cache = homes.many(5000, 2.0), scratch / "many" / "cache-in-process"
    subprocess.run([sys.executable, "-c", _INDEX, home, cache], check=True, env=environment({}))
    with SessionArchive(home=home, cache=cache) as archive:
        times = time_functions(
            {
                "rare": lambda: archive.search("fsencode"),
                "prefix": lambda: archive.search("deprec*"),
            },
            12,
        )
    wall = times["prefix"].wall
    ratio = wall / times["rare"].wall
    yield Figure("search, a prefix, 2 GB, in process", ratio, 50, milliseconds=wall * 1000)
