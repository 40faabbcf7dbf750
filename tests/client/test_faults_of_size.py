"""Too much at once: a reader that stops, a line of 60 MB, endless chatter."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.client.connecting import connect
from dragoman.rehearsal import Faults
from support.agents import measured
from support.agents.faking import command, delta, fake_run, fake_server, text
from support.agents.stages import SECONDS

_TEXTS = 12_000
_HUGE = 60_000_000


def _measure(program: str, repo: Path, seconds: float = 0, how: str = "wait") -> dict[str, Any]:
    words = [sys.executable, "-m", measured.__name__, program, str(repo), str(seconds), how]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(words, stdout=subprocess.PIPE, timeout=SECONDS, check=True, env=env)
    return json.loads(done.stdout)


@pytest.mark.parametrize(("how", "seconds"), [("wait", 0), ("block", 1)])
def test_a_reader_that_stops_for_a_while_misses_nothing_but_deltas(
    tmp_path: Path, repo: Path, how: str, seconds: float
) -> None:
    filler = "x" * 4000  # 24 000 messages are more than are held in memory

    program = fake_server(
        tmp_path,
        (
            line
            for number in range(_TEXTS)
            for line in (delta(number, filler[:1000]), text(number, f"{number} {filler}"))
        ),
    )
    told = _measure(program, repo, seconds, how)

    assert told["outcome"] == "completed"
    assert told["texts"] == list(range(_TEXTS))
    assert told["megabytes"] < 250
    if how == "wait":  # all was taken in meanwhile, and deltas had to be let go
        assert told["deltas"] < _TEXTS


def test_a_line_of_sixty_megabytes_is_a_line(tmp_path: Path, repo: Path) -> None:
    done = command("completed", exitCode=0, aggregatedOutput="y" * _HUGE)
    program = fake_server(tmp_path, [command("inProgress"), done, text(1, "1 after it")])

    told = _measure(program, repo)

    assert (told["outcome"], told["outputs"], told["texts"]) == ("completed", [_HUGE], [1])
    assert told["megabytes"] < 8 * _HUGE / 1e6


def test_a_flood_on_the_standard_error_is_read_away(tmp_path: Path, repo: Path) -> None:
    done = {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}
    flood = Faults(stderr="turn.started", stderr_text="chatter " * 1000 + "\n", stderr_times=2000)
    program = fake_run(tmp_path, [done], flood)

    async def story() -> None:
        async with (
            asyncio.timeout(SECONDS),
            connect("codex", mode="exec", command=program) as codex,
        ):
            session = await codex.start(cwd=repo, sandbox="danger-full-access")
            result = await session.run("work")
        assert result.outcome == "completed"
        assert len(result.stderr) < 100_000

    asyncio.run(story())
