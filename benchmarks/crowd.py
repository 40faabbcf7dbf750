"""Many sessions at once on one Codex process, and what an idle one costs us: ``make bench``.

A crowd: every session is opened and runs one turn, all at the same time, with the stand-in model. The
bare loop (see bare.py) does the same, with as many requests under way at once. Each contestant is a
process of its own with a server of its own; they take turns. Time counts from the first session's
opening to the last turn's end.

Memory: sessions on a server that lives in our own process and keeps nothing, so that what grows is
ours. Measured by Linux (resident memory) after a collection, in a fresh interpreter, from the 50th
session on; just opened, and again after each has run a turn.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from codex_cli_bin import bundled_codex_path

import dragoman
from bare import open_bare
from dragoman.drive.agent import Agent, AgentPlan
from dragoman.drive.approvals.policy import ask_always
from dragoman.drive.approvals.queue import ApprovalQueue
from dragoman.drive.links.link import Closed, Exit, Link, Receive
from dragoman.drive.router import RequestRouter
from dragoman.drive.session import Session
from dragoman.drive.tasks import Tasks
from dragoman.drive.tools.calls import ToolCalls
from dragoman.harnesses import harness
from dragoman.harnesses.contract.transport import SessionTransport
from dragoman.model.intents import Greet
from dragoman.rehearsal import Rehearsal

HERE = Path(__file__).parent
_SCRIPT = "- think: One moment.\n- say: Done, and all the tests pass, as far as I can see."
_AT_MOST = {50: 1.05}
_WARM = 50
_TURN = 100
"""Messages in a turn of an idle session's past."""


# The contestants.


async def bare_crowd(command: str, size: int) -> list[str]:
    async with open_bare(command, os.environ) as bare:

        async def one() -> str:
            return await bare.turn(await bare.start(os.getcwd()), "go on")

        return await timed(one, size)


async def dragoman_crowd(command: str, size: int) -> list[str]:
    async with dragoman.connect("codex", command=command) as codex:

        async def one() -> str:
            session = await codex.start(
                cwd=os.getcwd(), sandbox="danger-full-access", approvals="never"
            )
            result = await session.run("go on")
            return result.outcome if result.text else "nothing said"

        return await timed(one, size)


async def timed(one: Callable[[], Awaitable[str]], size: int) -> list[str]:
    began, busy = time.perf_counter(), time.process_time()
    outcomes = await asyncio.gather(*(one() for _ in range(size)), return_exceptions=True)
    told = {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - busy,
        "completed": sum(outcome == "completed" for outcome in outcomes),
        "others": sorted({repr(outcome) for outcome in outcomes if outcome != "completed"}),
    }
    print(json.dumps(told), flush=True)
    return [str(outcome) for outcome in outcomes]


_CROWDS = {"bare": bare_crowd, "dragoman": dragoman_crowd}


# Idle sessions.


class Here:
    """A link to a server in memory, which answers what it is asked and forgets it."""

    pid: int | None = None
    is_supervised = False
    exit: Exit | None = None
    stderr_tail = ""

    def __init__(self, receive: Receive, closed: Closed) -> None:
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self._opened = 0

    def send(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._loop.call_soon(self._hear, json.loads(line))

    def _hear(self, asked: dict[str, Any]) -> None:
        if "id" not in asked:
            return
        method = asked["method"]
        params: dict[str, Any] = asked.get("params") or {}
        result: dict[str, Any] = {}
        if method == "initialize":
            result = {"userAgent": "pretend/0.166.0 (benchmark)"}
        elif method == "account/read":
            result = {"account": None, "requiresOpenaiAuth": False}
        elif method == "thread/start":
            self._opened += 1
            result = {
                "thread": {"id": f"01a1e27b-f5f3-7da1-b050-{self._opened:012}", "turns": []},
                "model": "gpt-5.5",
                "cwd": params["cwd"],
                "approvalPolicy": params["approvalPolicy"],
                "sandbox": {"type": "dangerFullAccess"},
            }
        elif method == "turn/start":
            name = f"turn-of-{params['threadId']}"
            result = {"turn": {"id": name, "items": [], "status": "inProgress"}}
        self._say({"id": asked["id"], "result": result})
        if method == "turn/start":
            self._work(params["threadId"], result["turn"])

    def _work(self, thread: str, turn: dict[str, Any]) -> None:
        here = {"threadId": thread, "turnId": turn["id"]}
        self._note("turn/started", threadId=thread, turn=turn)
        for number in range(_TURN // 2):
            item = f"msg_{number}"
            self._note("item/agentMessage/delta", **here, itemId=item, delta="Some words.")
            said = {"type": "agentMessage", "id": item, "text": f"Some words. {number}"}
            self._note("item/completed", **here, item=said)
        self._note("turn/completed", threadId=thread, turn={**turn, "status": "completed"})

    def _note(self, method: str, **params: Any) -> None:
        self._say({"method": method, "params": params})

    def _say(self, message: dict[str, Any]) -> None:
        self._receive([json.dumps(message).encode()])

    async def drained(self) -> None:
        return

    async def stop(self) -> Exit:
        return Exit()


async def open_here(receive: Receive, closed: Closed) -> Link:
    return Here(receive, closed)


async def idle(size: int) -> None:
    """Say how many bytes an idle session takes: opened, and after a turn."""
    codex = harness("codex")
    transport = codex.transport()
    assert isinstance(transport, SessionTransport)
    plan = AgentPlan(
        greet=Greet(client="benchmark", client_version="0"),
        open_link=lambda opening: open_here,
        make_conversation=lambda: transport.conversation(None, None),
        capabilities=lambda version: codex.capabilities(None),
    )
    async with Tasks() as tasks, ApprovalQueue(ask_always) as queue, ToolCalls() as calls:
        agent = Agent(plan, RequestRouter(queue, calls), tasks)
        await agent.begin()

        async def more(count: int) -> list[Session]:
            how: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}
            return [await agent.start(cwd=os.getcwd(), **how) for _ in range(count)]

        warm = await more(_WARM)
        for session in warm:
            await session.run("go on")
        empty = resident()
        sessions = await more(size)
        opened = resident()
        for session in sessions:
            assert (await session.run("go on")).outcome == "completed"
        used = resident()
        assert len(agent.sessions) == size + _WARM
        print(json.dumps([(opened - empty) / size, (used - empty) / size]), flush=True)
        await agent.close()


def resident() -> int:
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# The report.


def run(words: list[str], **options: Any) -> Any:
    command = [sys.executable, str(HERE / "crowd.py"), *words]
    return json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout
    )


def race(size: int, rounds: int) -> dict[str, list[dict[str, Any]]]:
    told: dict[str, list[dict[str, Any]]] = {name: [] for name in _CROWDS}
    for number in range(rounds):
        for name in list(_CROWDS) if number % 2 else list(reversed(_CROWDS)):
            with tempfile.TemporaryDirectory() as folder, Rehearsal(_SCRIPT) as stage:
                env = {**stage.environ, "HOME": str(stage.codex_home)}
                words = ["--contestant", name, "--sessions", str(size)]
                told[name].append(run(words, env=env, cwd=folder))
    return told


def report(size: int, told: dict[str, list[dict[str, Any]]]) -> bool:
    def middle(name: str, what: str) -> float:
        return statistics.median(one[what] for one in told[name])

    def best(name: str, what: str) -> float:
        return min(one[what] for one in told[name])

    print(f"{size} sessions at once, {len(told['bare'])} rounds")
    print(
        f"  {'':10}{'completed':>11}{'s, median':>11}{'ratio':>7}{'s, best':>9}{'ratio':>7}"
        f"{'at most':>9}{'own CPU, s':>12}"
    )
    whole = True
    for name, ones in told.items():
        completed = min(one["completed"] for one in ones)
        whole = whole and completed == size
        most = _AT_MOST.get(size, "") if name == "dragoman" else ""
        print(
            f"  {name:10}{f'{completed}/{size}':>11}{middle(name, 'seconds'):>11.2f}"
            f"{middle(name, 'seconds') / middle('bare', 'seconds'):>7.3f}"
            f"{best(name, 'seconds'):>9.2f}{best(name, 'seconds') / best('bare', 'seconds'):>7.3f}"
            f"{most:>9}{middle(name, 'cpu'):>12.2f}"
        )
        for other in {other for one in ones for other in one["others"]}:
            print(f"             {other}")
    print()
    return whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--idle", type=int, default=500, help="idle sessions to weigh")
    parser.add_argument("--sessions", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant == "idle":
        asyncio.run(idle(options.sessions))
        return 0
    if options.contestant:
        asyncio.run(_CROWDS[options.contestant](str(bundled_codex_path()), options.sessions))
        return 0
    whole = report(50, race(50, options.rounds))
    whole = report(200, race(200, max(1, options.rounds // 3))) and whole
    opened, used = run(["--contestant", "idle", "--sessions", str(options.idle)])
    print(f"{'memory of an idle session':32}{'KB':>6}{'at most':>9}")
    print(f"{'opened':32}{opened / 1e3:>6.1f}{100:>9}")
    print(f"{f'after a turn of {_TURN} messages':32}{used / 1e3:>6.1f}{100:>9}")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
