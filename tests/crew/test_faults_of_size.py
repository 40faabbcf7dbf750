"""Too much at once: a reader that stops, a line of 60 MB, 200 questions, endless chatter."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import measured
import pytest
from faking import command, delta, fake_run, fake_server, text
from pretending import FakeLink, Server, running_agent
from stages import SECONDS

from dragoman.crew.connecting import connect
from dragoman.model.messages import ApprovalRequested, ApprovalSettled
from dragoman.rehearsal import Faults

_TEXTS = 12_000
_HUGE = 60_000_000


def _measure(program: str, repo: Path, seconds: float = 0, how: str = "wait") -> dict[str, Any]:
    words = [sys.executable, measured.__file__, program, str(repo), str(seconds), how]
    done = subprocess.run(words, stdout=subprocess.PIPE, timeout=SECONDS, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("how", ["wait", "block"])
def test_a_reader_that_stops_for_a_while_misses_nothing_but_deltas(
    tmp_path: Path, repo: Path, how: str
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
    told = _measure(program, repo, 2, how)

    assert told["outcome"] == "completed"
    assert told["texts"] == list(range(_TEXTS))
    assert told["megabytes"] < 250
    if how == "wait":  # it read on, and had to let deltas go
        assert told["deltas"] < _TEXTS


def test_a_line_of_sixty_megabytes_is_a_line(tmp_path: Path, repo: Path) -> None:
    done = command("completed", exitCode=0, aggregatedOutput="y" * _HUGE)
    program = fake_server(tmp_path, [command("inProgress"), done, text(1, "1 after it")])

    told = _measure(program, repo)

    assert (told["outcome"], told["outputs"], told["texts"]) == ("completed", [_HUGE], [1])
    assert told["megabytes"] < 8 * _HUGE / 1e6


def test_two_hundred_questions_at_once_are_each_answered_once(tmp_path: Path) -> None:
    count = 200

    async def policy(request: ApprovalRequested) -> str:
        await asyncio.sleep(0.01)
        return "allow" if request.detail["command"].endswith("0") else "deny"

    async def story() -> None:
        server = Server()

        def ask(link: FakeLink) -> None:
            for number in range(count):
                params = {
                    "threadId": link.thread,
                    "turnId": link.turn,
                    "itemId": f"call-{number}",
                    "command": f"touch {number}",
                    "cwd": "/",
                }
                method = "item/commandExecution/requestApproval"
                link.say({"id": number, "method": method, "params": params})

        server.starts_turns(ask)
        async with asyncio.timeout(SECONDS), running_agent(server, policy=policy) as agent:
            session = await agent.start(cwd=tmp_path)
            turn = session.run("work")
            await turn.begin()
            while len(_answers(server)) < count:
                await asyncio.sleep(0.01)
            server.end_turn(server.link)
            result = await turn
        answers = _answers(server)
        assert sorted(answer["id"] for answer in answers) == list(range(count))
        allowed = [a["id"] for a in answers if a["result"]["decision"] == "accept"]
        assert sorted(allowed) == list(range(0, count, 10))
        settled = [m for m in result.messages if isinstance(m, ApprovalSettled)]
        assert len(settled) == count

    asyncio.run(story())


def _answers(server: Server) -> list[dict[str, Any]]:
    return [line for line in server.asked if "method" not in line and "result" in line]


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
