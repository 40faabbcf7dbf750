"""What readers cost that connect to a stream and then read nothing: memory, and time of everybody else.

``python benchmarks/sleepers.py [READERS]``. A server in a process of its own, with a real store and one session that says
two megabytes before they come and goes on while they sleep. Prints the server's memory before and with the sleepers,
the slowest of other requests meanwhile, and how long it takes until they are cut off.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import sys
import tempfile
import time
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

import httpx

from dragoman.archive.api import SessionArchive
from dragoman.client.connection import Connection as How
from dragoman.hub.hub import Hub, LiveSession
from dragoman.model.messages import Text
from dragoman.web.app import create_app
from dragoman.web.server import listen, serving
from dragoman.web.settings import Settings

TOKEN = "t" * 40
BEFORE, SIZE, RATE = 1_000, 2_000, 50
"""Entries that are there at first, characters of each, and how many more come a second."""
PATIENCE = 60


def serve(on: socket.socket, pipe: Connection) -> None:
    asyncio.run(_serve(on, pipe))


async def _serve(on: socket.socket, pipe: Connection) -> None:
    folder = Path(tempfile.mkdtemp())
    async with Hub(folder / "data", connection=How(command="/nowhere/codex")) as hub:
        registry = hub._registry  # pyright: ignore[reportPrivateUsage]
        now = datetime.now(UTC)
        live = registry.begin(
            LiveSession(id="s1", harness="codex", cwd="/", created_at=now, updated_at=now)
        )
        message = Text(session_id="n", text="x" * SIZE)
        for _ in range(BEFORE):
            registry.add(live, message)
        await registry.stored()
        settings = Settings(token=TOKEN, port=on.getsockname()[1])
        app = create_app(hub, lambda: SessionArchive(home=folder, cache=folder / "cache"), settings)
        async with serving(app, on, hang_up=app.state.hang_up):
            pipe.send(memory())
            while not pipe.poll():
                registry.add(live, message)
                await asyncio.sleep(1 / RATE)


def memory(pid: int | str = "self") -> float:
    """Of a process, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(each.split()[1]) for each in status.split("\n") if "VmRSS" in each) / 1000


def fall_asleep(port: int) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port))
    head = f"GET /api/v1/sessions/s1/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    made.sendall(f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
    return made


def slowest(client: httpx.Client, seconds: float, pid: int) -> tuple[float, float]:
    """Of other requests in that time; and the most memory."""
    worst = most = 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        client.get("/api/v1/sessions/s1").raise_for_status()
        worst = max(worst, time.monotonic() - began)
        most = max(most, memory(pid))
        time.sleep(0.02)
    return worst, most


def is_cut_off(made: socket.socket) -> bool:
    """By an event of the socket alone: to read would be to wake up."""
    # TCP_INFO's first byte is the state; 1 is ESTABLISHED.
    return made.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != 1


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    on = listen("127.0.0.1", 0)
    port = on.getsockname()[1]
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=serve, args=(on, theirs))
    process.start()
    idle = ours.recv()
    assert process.pid is not None
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=address, headers=bearer, timeout=PATIENCE) as client:
        quiet, _ = slowest(client, 3, process.pid)
        began = time.monotonic()
        asleep = [fall_asleep(port) for _ in range(count)]
        worst, most = slowest(client, 20, process.pid)
        most = max(most, memory(process.pid))
        print(f"{count} sleeping readers")
        print(f"memory of the server: {idle:.0f} MB idle, {most:.0f} MB with them")
        print(f"slowest other request: {quiet:.3f} s idle, {worst:.3f} s with them")
        while time.monotonic() - began < PATIENCE and not all(map(is_cut_off, asleep)):
            time.sleep(0.2)
        left = sum(not is_cut_off(each) for each in asleep)
        print(f"cut off after {time.monotonic() - began:.0f} s; {left} still connected")
    for each in asleep:
        each.close()
    ours.send(None)
    process.join()


if __name__ == "__main__":
    main()
