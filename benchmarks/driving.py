"""What a turn costs through Dragoman, beside a bare JSON-RPC loop and the official SDK: ``make bench``.

All drive the same Codex binary, which asks the same stand-in model. Each contestant is a process of its
own with a server of its own; they take turns, one at a time, in an order that changes, and each turn is
on a new thread. The ratio is to the bare loop (see bare.py). The official SDK is installed into an
environment that is made once, in ``~/.cache/dragoman-bench``.

Nearly all of a turn is the server's own time, which varies; so the processor time of the driving
process is given as well: that is what a client can be blamed for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from codex_cli_bin import bundled_codex_path

import dragoman
from bare import open_bare
from dragoman.rehearsal import Rehearsal

HERE = Path(__file__).parent
_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "dragoman-bench")
_AT_MOST = {"dragoman": 1.05}
_SCRIPTS = {
    "one sentence": "- say: Done, and all the tests pass.",
    "a thought, a command, 1,000 words": """
- think: Let me look at what is there first.
- run: echo hello
- say: {text: "word and another ", bytes: 5400}
""",
}
Turn: TypeAlias = Callable[[str], Awaitable[tuple[float, float, float]]]
"""Seconds to open a session, seconds for the turn, processor seconds for the turn."""


# The contestants.


@asynccontextmanager
async def bare_turns(command: str) -> AsyncGenerator[Turn]:
    async with open_bare(command, os.environ) as bare:

        async def turn(prompt: str) -> tuple[float, float, float]:
            began = time.perf_counter()
            thread = await bare.start(os.getcwd())
            opened, busy = time.perf_counter(), time.process_time()
            status = await bare.turn(thread, prompt)
            ended, worked = time.perf_counter(), time.process_time()
            assert status == "completed", status
            return opened - began, ended - opened, worked - busy

        yield turn


@asynccontextmanager
async def dragoman_turns(command: str) -> AsyncGenerator[Turn]:
    async with dragoman.connect("codex", command=command) as codex:

        async def turn(prompt: str) -> tuple[float, float, float]:
            began = time.perf_counter()
            session = await codex.start(
                cwd=os.getcwd(), sandbox="danger-full-access", approvals="never"
            )
            opened, busy = time.perf_counter(), time.process_time()
            result = await session.run(prompt)
            ended, worked = time.perf_counter(), time.process_time()
            assert result.text, result
            return opened - began, ended - opened, worked - busy

        yield turn


_OURS = {"bare": bare_turns, "dragoman": dragoman_turns}


async def serve(name: str, command: str) -> None:
    """Be a contestant: a prompt per line in, three numbers per line out."""
    async with _OURS[name](command) as turn:
        print("ready", flush=True)
        while prompt := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await turn(prompt.strip())), flush=True)


def official_python() -> Path:
    """The interpreter that has the official SDK; installed the first time."""
    place = _CACHE / "official"
    python = place / "bin" / "python"
    if not (place / "installed").exists():
        venv.create(place, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "openai-codex"], check=True)
        (place / "installed").touch()
    return python


class Contestant:
    """A process that runs a turn when it is told to."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: str) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, env=env, cwd=cwd
        )
        self._expect_ready()

    def _expect_ready(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def turn(self) -> tuple[float, float, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go on\n")
        self._process.stdin.flush()
        opening, turn, worked = json.loads(self._process.stdout.readline())
        return opening, turn, worked

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


def race(script: str, names: list[str], rounds: int) -> dict[str, list[tuple[float, float, float]]]:
    codex = str(bundled_codex_path())
    commands: dict[str, list[str]] = {
        name: [sys.executable, str(HERE / "driving.py"), "--contestant", name, codex]
        for name in names
        if name in _OURS
    }
    if "official" in names:
        commands["official"] = [str(official_python()), str(HERE / "official.py"), codex]
    times: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stage = stack.enter_context(Rehearsal(script))
        env = {**stage.environ, "HOME": str(stage.codex_home)}
        contestants: dict[str, Contestant] = {}
        for name in names:
            contestants[name] = Contestant(commands[name], env, folder)
            stack.callback(contestants[name].stop)
        for contestant in contestants.values():
            contestant.turn()
            contestant.turn()
        order = list(names)
        for _ in range(rounds):
            random.shuffle(order)
            for name in order:
                times[name].append(contestants[name].turn())
    return times


def report(what: str, times: dict[str, list[tuple[float, float, float]]]) -> None:
    def middle(name: str, at: int) -> float:
        return statistics.median(time[at] for time in times[name])

    def best(name: str, at: int) -> float:
        return min(time[at] for time in times[name])

    print(f"a turn: {what}")
    print(
        f"  {'':10}{'ms, median':>11}{'ratio':>7}{'ms, best':>10}{'ratio':>7}{'at most':>9}"
        f"{'own CPU, ms':>13}{'opening, ms':>13}"
    )
    for name in times:
        row: list[Any] = [
            f"{middle(name, 1) * 1e3:>11.1f}{middle(name, 1) / middle('bare', 1):>7.3f}",
            f"{best(name, 1) * 1e3:>10.1f}{best(name, 1) / best('bare', 1):>7.3f}",
            f"{_AT_MOST.get(name, ''):>9}",
            f"{middle(name, 2) * 1e3:>13.2f}{middle(name, 0) * 1e3:>13.1f}",
        ]
        print(f"  {name:10}{''.join(row)}")
    print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--no-official", action="store_true", help="without the official SDK")
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        asyncio.run(serve(options.contestant, options.command))
        return 0
    names = ["bare", "dragoman"] + ([] if options.no_official else ["official"])
    print(f"{options.rounds} turns each, interleaved\n")
    for what, script in _SCRIPTS.items():
        report(what, race(script, names, options.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
