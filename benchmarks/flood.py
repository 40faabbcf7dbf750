"""How many lines a second become messages when an agent speaks as fast as it can: ``make bench``.

Everything between the agent's pipe and the consumer's ``async for`` takes part. Two floods: the fake
Codex repeats one delta of a text; and everything that a recorded turn said, over and over again, with
new items each time. The naive peer (see bare.py) reads the same with ``StreamReader.readline`` and
``json.loads``, and understands none of it.

A contestant has a core to itself where there are two. Lines per second of its own processor time are
what one core can do; the clock on the wall also counts what else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import dragoman
from bare import open_bare
from dragoman.rehearsal.fakes import Faults, write_fake_codex

HERE = Path(__file__).parent
_RECORDING = HERE.parent / "examples" / "recordings" / "fix-the-test.app-server.jsonl"
_AT_LEAST = {"deltas": 150_000}


async def naive(command: str) -> tuple[int, float, float]:
    async with open_bare(command, os.environ) as bare:
        keep_apart(bare.pid)
        thread = await bare.start(os.getcwd())
        began, busy, before = time.perf_counter(), time.process_time(), bare.lines
        status = await bare.turn(thread, "go on")
        assert status == "completed", status
        return bare.lines - before, time.perf_counter() - began, time.process_time() - busy


async def ours(command: str) -> tuple[int, float, float]:
    async with dragoman.connect("codex", command=command) as codex:
        link = codex.exchange.link if codex.exchange else None
        keep_apart(link.pid if link else None)
        session = await codex.start(
            cwd=os.getcwd(), sandbox="danger-full-access", approvals="never"
        )
        first = last = deltas = 0
        message: dragoman.Message | None = None
        began, busy = time.perf_counter(), time.process_time()
        async for message in session.run("go on"):
            first, last = first or message.line, max(last, message.line)
            deltas += isinstance(message, dragoman.Delta)
        spent, worked = time.perf_counter() - began, time.process_time() - busy
        assert isinstance(message, dragoman.TurnEnded), message
        assert message.outcome == "completed", message
        assert deltas, "none of the flood came through"
        return last - first, spent, worked


_CONTESTANTS = {"readline, json.loads": naive, "dragoman": ours}


def keep_apart(agent: int | None) -> None:
    """Give us one core and the agent the others, where the system lets us choose."""
    if not hasattr(os, "sched_setaffinity"):
        return
    mine, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {mine})
    if others and agent is not None:
        os.sched_setaffinity(agent, set(others))


def write_agents(folder: Path, lines: int) -> dict[str, Path]:
    """The floods, each an executable ``codex``."""
    repeat = Faults(repeat="item/agentMessage/delta", times=lines)
    deltas = write_fake_codex(folder / "deltas", _RECORDING, faults=repeat)
    turn = sum('"dir": "recv"' in line for line in _RECORDING.read_text("utf-8").splitlines())
    words = [sys.executable, "-I", "-S", HERE / "pouring.py", _RECORDING, lines // turn]
    mixed = folder / "mixed" / "codex"
    mixed.parent.mkdir()
    mixed.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n', encoding="utf-8")
    mixed.chmod(0o755)
    return {"deltas": deltas, "mixed": mixed}


def measure(name: str, command: Path) -> tuple[int, float, float]:
    words = [sys.executable, str(HERE / "flood.py"), "--contestant", name, str(command)]
    told = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    lines, spent, worked = json.loads(told.stdout)
    return lines, spent, worked


def report(what: str, told: dict[str, list[tuple[int, float, float]]]) -> None:
    print(f"{what}: {max(lines for lines, _, _ in told['dragoman']):,} lines")
    print(
        f"  {'best of each':22}{'lines/s of a core':>18}{'ratio':>7}{'at least':>10}"
        f"{'µs/line':>9}{'lines/s on the wall':>21}"
    )
    speeds = {name: max(lines / worked for lines, _, worked in ones) for name, ones in told.items()}
    for name, ones in told.items():
        wall = max(lines / spent for lines, spent, _ in ones)
        least: Any = f"{_AT_LEAST[what]:,}" if name == "dragoman" and what in _AT_LEAST else ""
        print(
            f"  {name:22}{speeds[name]:>18,.0f}{speeds[name] / speeds['readline, json.loads']:>7.2f}"
            f"{least:>10}{1e6 / speeds[name]:>9.2f}{wall:>21,.0f}"
        )
    print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        print(json.dumps(asyncio.run(_CONTESTANTS[options.contestant](options.command))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for what, command in write_agents(Path(folder), options.lines).items():
            told: dict[str, list[tuple[int, float, float]]] = {name: [] for name in _CONTESTANTS}
            for _ in range(options.rounds):
                for name in _CONTESTANTS:
                    told[name].append(measure(name, command))
            report(what, told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
