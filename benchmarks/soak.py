"""A soak: the real server with the real Codex and a stand-in model, used, failed and killed for half an hour.

``dragoman serve`` runs as a program of its own. Users start sessions over HTTP, run turns, approve and deny,
steer, interrupt, meet a model that fails, fork, rename, stop, archive; readers come, go, and fall asleep
over their streams; somebody has the list of all sessions open. The agent is killed (-9) every 75 seconds,
the server three times in the first third, and once more at the very end, under load. In the middle the agent
is left alone for five minutes and a half, so that approvals that nobody answers run into their deadline.

Each minute is a row. At the end of the first third and at the end everybody leaves, and what the server
then holds is compared: it is the same process all the while. Exit code 1 if it holds more than it may, if
a process is left, if the store is not sound, if a reader missed an entry, if a turn never ended or ended
otherwise than it should have, or if the server had to say 500. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from dragoman.hub.stored_lines import replay
from dragoman.rehearsal import Rehearsal
from dragoman.store.live.checking import verify
from soak_server import Held, Server
from soak_users import DEADLINE_SECONDS, SCRIPT, USERS, Soak

_READERS: Final = 8
_AGENT_DIES_SECONDS: Final = 75
_MOST: Final = {"processes": 0, "fds": 4, "memory MB": 16.0}
"""What the server may hold more at the end than after the first third, at rest."""


def row(minute: float, held: Held, soak: Soak) -> None:
    if not minute:
        print(f"{'minute':>8}{'turns':>7}{'sessions':>9}" + "".join(f"{n:>11}" for n in held))
    cells = "".join(f"{value:>11.1f}" for value in held.values())
    print(f"{minute:>8.1f}{soak.tally['turns']:>7}{soak.tally['sessions']:>9}{cells}", flush=True)


async def run(server: Server, minutes: float) -> tuple[Soak, Held, Held, float]:
    soak = Soak(server)
    async with asyncio.TaskGroup() as group:
        return soak, *await drive(soak, minutes, group)


async def drive(soak: Soak, minutes: float, group: asyncio.TaskGroup) -> tuple[Held, Held, float]:
    began, whole = time.monotonic(), minutes * 60
    crowd = [soak.user] * USERS + [soak.reader] * _READERS + [soak.looker, soak.watcher]
    tasks = [group.create_task(soak.everyone(each)) for each in crowd]
    forgotten: list[asyncio.Task[None]] = []
    soak.open.set()
    row(0, soak.server.sample(), soak)
    kills = [whole * part for part in (0.1, 0.18, 0.25)]
    calm = whole / 2 if whole > 3 * DEADLINE_SECONDS else whole
    agent_dies, next_row, first = _AGENT_DIES_SECONDS / 2, 60.0, Held()
    rows: list[tuple[float, float]] = []
    while (now := time.monotonic() - began) < whole:
        await asyncio.sleep(1)
        if kills and now > kills[0]:
            kills.pop(0)
            await soak.kill_server()
        if now > agent_dies and not calm < now < calm + DEADLINE_SECONDS + 30:
            agent_dies = now + _AGENT_DIES_SECONDS
            await soak.kill_agent()
        if now > calm + 15 and not forgotten:
            forgotten = [group.create_task(soak.forget()) for _ in range(8)]
        if not first and now > whole / 3:
            first = await soak.rest()
            print(f"{'at rest':>8}", end="")
            row(now / 60, first, soak)
        if now > next_row:
            next_row += 60
            held = soak.server.sample()
            row(now / 60, held, soak)
            if first:
                rows.append((now / 60, held["memory MB"]))
    last = await soak.rest()
    print(f"{'at rest':>8}", end="")
    row((time.monotonic() - began) / 60, last, soak)
    await asyncio.sleep(3)
    await soak.kill_server()  # under load, once more: what it leaves is verified
    await asyncio.sleep(2)
    for task in (*tasks, *forgotten):
        task.cancel()
    slope = statistics.linear_regression(*zip(*rows, strict=True)).slope if len(rows) > 1 else 0.0
    return first, last, slope


def report(soak: Soak, first: Held, last: Held, slope: float, left: list[str]) -> bool:
    server, wrong = soak.server, list(soak.wrong.items())
    print("\n" + "\n".join(f"{count:>8}  {what}" for what, count in sorted(soak.tally.items())))
    print(f"\n{'at rest':12}{'after 1/3':>11}{'at the end':>11}{'more':>8}{'at most':>9}")
    for name, most in _MOST.items():
        more = last[name] - first[name]
        print(f"{name:12}{first[name]:>11.1f}{last[name]:>11.1f}{more:>8.1f}{most:>9}")
        if more > most:
            wrong.append((f"it holds more {name}: {more:.1f}, and may {most}", 1))
    for name in sorted(set[str]().union(*soak.files)):
        was, now = (files[name] for files in soak.files)
        print(f"  {name:10}{was:>11}{now:>11}{now - was:>8}")
    print(f"memory grew by {slope * 1e3:.0f} KB a minute from the first third on (a straight line)")
    wrong += [(f"left after the end: {each}", 1) for each in left]
    damage = verify(server.data / "live.db", replay)
    print(f"the store: {'sound' if not damage else f'{len(damage)} things are wrong'}")
    wrong += [(f"the store: {each}", 1) for each in damage[:20]]
    errors = (server.folder / "errors.txt").read_text().splitlines()
    if tracebacks := sum(line.startswith("Traceback") for line in errors):
        wrong.append((f"tracebacks of the server in {server.folder}/errors.txt", tracebacks))
    print("".join(f"WRONG {count} x {what}\n" for what, count in wrong), end="")
    print(f"FAILED: {len(wrong)} things are wrong" if wrong else "PASSED: all is well")
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--keep", action="store_true", help="keep the folder with the store")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        with Rehearsal(SCRIPT, keep=100) as stage:
            server = Server(folder, stage)
            server.start()
            try:
                soak, first, last, slope = asyncio.run(run(server, options.minutes))
            finally:
                code = server.end(signal.SIGTERM)
            time.sleep(3)
            print(f"the server ended with {code}")
            left = [f"{pid} {name}" for pid, name in server.ours().items()]
        return 0 if report(soak, first, last, slope, left) else 1
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
