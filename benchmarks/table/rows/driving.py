"""The real agent on the stand-in model: how soon its first output is shown, and how soon the page can be opened."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from codex_cli_bin import bundled_codex_path

from dragoman.rehearsal import Rehearsal
from table.figures import Figure
from table.racing import Command, Spent, environment, race
from table.rows.commands import PROGRAM, PYTHON

_SCRIPT = "- say: Done, and all the tests pass."
_ROUNDS = 10
_SECONDS = 60


def first_output(scratch: Path) -> Iterator[Figure]:
    """The first line of ``run``, beside that of ``codex exec --json``."""
    folder = scratch / "first-output"
    folder.mkdir(parents=True, exist_ok=True)
    codex = str(bundled_codex_path())
    with Rehearsal(_SCRIPT) as stage:
        env = {**stage.environ, "HOME": str(stage.codex_home), "DRAGOMAN_CACHE": str(folder)}
        ours = [PROGRAM, "run", "hi", "-C", str(folder), "--access", "read", "--to", "messages"]
        theirs = [codex, "exec", "--json", "--skip-git-repo-check", "-C", str(folder)]
        theirs += ["--sandbox", "read-only", "hi"]
        times = race(
            {
                "codex": Command(theirs, env, until_output=True),
                "exec": Command([*ours, "--exec"], env, until_output=True),
                "run": Command(ours, env, until_output=True),
            },
            _ROUNDS,
        )
    for name, words, target in (("exec", "run --exec", 2.0), ("run", "run", 2.5)):
        ratio = times[name].wall / times["codex"].wall
        note = f"{times[name].wall * 1000:.0f} ms, codex {times['codex'].wall * 1000:.0f} ms"
        yield Figure(f"{words}, first output / codex exec", ratio, target, note=note)


def serving(scratch: Path) -> Iterator[Figure]:
    """The address, at a home that Codex knows and at one that is new to it."""
    bare = race({"bare": Command([PYTHON, "-c", "pass"])}, 10)["bare"]
    with Rehearsal(_SCRIPT) as stage:
        known = _address(scratch, stage.environ, stage.codex_home, 6)
        new = _address(scratch, stage.environ, None, 3)
    for name, wall in (("serve prints its address", known), ("… at a home new to Codex", new)):
        yield Figure(name, wall / bare.wall, 600, milliseconds=wall * 1000)


def _address(scratch: Path, env: dict[str, str], home: Path | None, rounds: int) -> float:
    best = float("inf")
    for number in range(rounds):
        place = scratch / f"serve-{home is None}-{number if home is None else 0}"
        own = home if home is not None else place / "home"
        own.mkdir(parents=True, exist_ok=True)
        if home is None and "CODEX_HOME" in env:
            config = Path(env["CODEX_HOME"]) / "config.toml"
            if config.exists():
                (own / "config.toml").write_bytes(config.read_bytes())
        given = {"CODEX_HOME": str(own), "HOME": str(own), "DRAGOMAN_CACHE": str(place / "cache")}
        best = min(best, _until_address({**env, **given}, place / "data").wall)
    return best


def _until_address(env: dict[str, str], data: Path) -> Spent:
    command = [PROGRAM, "serve", "--no-open", "--port", "0", "--data", str(data)]
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        shown = b""
        while b"http://127.0.0.1:" not in shown:
            ready, _, _ = select.select([process.stdout], [], [], _SECONDS)
            more = os.read(process.stdout.fileno(), 65536) if ready else b""
            if not more:
                raise RuntimeError(f"no address: {shown.decode(errors='replace')}")
            shown += more
        return Spent(time.perf_counter() - began, 0.0)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
