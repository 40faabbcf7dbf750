"""What people wait for at a prompt: whole commands, beside those of others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from table import homes, peers
from table.figures import Figure
from table.racing import Command, Spent, environment, race

PYTHON = sys.executable
PROGRAM = str(Path(sys.executable).with_name("dragoman"))
_NOTHING = Command([PYTHON, "-c", "pass"])
_ROUNDS = 12


class Place:
    """A home and a cache, and the environment that names them and no other."""

    def __init__(
        self, scratch: Path, codex: Path | None = None, claude: Path | None = None
    ) -> None:
        empty = scratch / "empty"
        empty.mkdir(parents=True, exist_ok=True)
        self.cache = scratch / "cache"
        self.env = {
            "HOME": str(empty),
            "CODEX_HOME": str(codex or empty),
            "CLAUDE_CONFIG_DIR": str(claude or empty),
            "DRAGOMAN_CACHE": str(self.cache),
            "TZ": "UTC",
        }

    def ours(self, *words: str) -> Command:
        return Command([PROGRAM, *words], self.env)

    def output(self, *words: str) -> str:
        done = subprocess.run(
            words, env=environment(self.env), capture_output=True, text=True, check=True
        )
        return done.stdout


def starting(_scratch: Path) -> Iterator[Figure]:
    times = race({"bare": _NOTHING, "help": Command([PROGRAM, "--help"])}, _ROUNDS)
    yield _limit("dragoman --help", times, "help", 150)


def usage(scratch: Path) -> Iterator[Figure]:
    """``usage`` beside the native program of ccusage."""
    ccusage = peers.ccusage()
    if ccusage is None:
        return
    theirs = [str(ccusage), "codex", "daily", "--offline", "--json"]
    for files, size, targets in ((40, 20, (1.5, 1.5)), (300, 505, (None, 0.9))):
        home, (right, _, _, output, _) = homes.codex(files, size)
        place = Place(scratch / f"usage-{files}", home)
        told = json.loads(place.output(PROGRAM, "usage", "--json"))["total"]["usage"]
        assert (told["input_tokens"], told["output_tokens"]) == (right, output), told
        times = race(
            {
                "ccusage": Command(theirs, place.env),
                "warm": place.ours("usage"),
                "cold": place.ours("usage", "--no-cache"),
            },
            _ROUNDS if size < 100 else 5,
        )
        for name, target in zip(("warm", "cold"), targets, strict=True):
            if target is not None:
                row = f"usage, {size} MB, {name} / ccusage"
                yield _ratio(row, times[name], times["ccusage"], target)


def usage_of_claude(scratch: Path) -> Iterator[Figure]:
    ccusage = peers.ccusage()
    if ccusage is None:
        return
    home = homes.claude(500)
    place = Place(scratch / "claude", claude=home)
    right, output = json.loads((home / "oracle.json").read_text())
    told = json.loads(place.output(PROGRAM, "usage", "--json", "--no-cache"))["total"]["usage"]
    assert (told["input_tokens"], told["output_tokens"]) == (right, output), (told, right, output)
    times = race(
        {
            "ccusage": Command([str(ccusage), "claude", "daily", "--offline", "--json"], place.env),
            "cold": place.ours("usage", "--no-cache"),
        },
        4,
    )
    yield _ratio("usage, 500 MB of Claude, cold / ccusage", times["cold"], times["ccusage"], 1.0)


def archive(scratch: Path) -> Iterator[Figure]:
    """Lists and searches of 5,000 sessions, all of them indexed."""
    home = homes.many(5000, 2.0)
    place = Place(scratch / "many", home)
    place.output(PROGRAM, "sessions", "-n", "5000")
    rg = peers.ripgrep()
    commands = {
        "bare": _NOTHING,
        "list": place.ours("sessions"),
        "all": place.ours("sessions", "-n", "5000"),
        "search": place.ours("search", "fsencode"),
    }
    if rg is not None:
        commands["rg"] = Command([str(rg), "-l", "fsencode", str(home)])
    times = race(commands, _ROUNDS)
    note = f"rg: {times['rg'].wall * 1000:.0f} ms" if "rg" in times else ""
    yield _limit("sessions, 5,000, warm", times, "list", 100)
    yield _limit("sessions -n 5000", times, "all", 400)
    yield _limit("search, a rare word, 2 GB", times, "search", 90, note)
    yield from _one_new_row(place, home, scratch)


def _one_new_row(place: Place, home: Path, scratch: Path) -> Iterator[Figure]:
    path = next((home / "sessions").rglob("*.jsonl"))
    shutil.copy2(path, scratch / "kept")
    count = 0

    def append() -> None:
        nonlocal count
        count += 1
        payload = {"type": "agent_message", "message": f"zebra{count} crossing"}
        row = {"timestamp": "2026-12-31T10:00:00.000Z", "type": "event_msg", "payload": payload}
        with path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")

    search = place.ours("search", "crossing", "--json")
    try:
        times = race(
            {"bare": _NOTHING, "row": search._replace(before=append)},
            _ROUNDS,
        )
        found = place.output(*search.words).count(f"zebra{count}")
        assert found, "the new row was not found"
    finally:
        kept = scratch / "kept"
        state = kept.stat()
        path.write_bytes(kept.read_bytes())
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    spent = times["row"].processor
    ratio = spent / times["bare"].processor
    yield Figure("one new row, whole command, CPU", ratio, 130, milliseconds=spent * 1000)


def _limit(name: str, times: dict[str, Spent], key: str, most: float, note: str = "") -> Figure:
    """A time in milliseconds; recorded in units of a bare interpreter's start."""
    wall = times[key].wall
    return Figure(name, wall / times["bare"].wall, most, milliseconds=wall * 1000, note=note)


def _ratio(name: str, ours: Spent, theirs: Spent, most: float) -> Figure:
    note = f"CPU {ours.processor / theirs.processor:.2f}x, {ours.wall * 1000:.0f} ms"
    return Figure(name, ours.wall / theirs.wall, most, note=note)
