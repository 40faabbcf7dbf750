"""How many readers one session can have: deliveries a second, order, memory, readers that sleep.

Servers and readers are processes of their own, so that two cores are enough. In one run:

* ``raw``: an ASGI application that sends the same bytes in a loop, on the same server;
* ``bare``: Litestar's own streaming response around the same loop;
* ``ours``: entries that a hub tells, one by one, each only when all readers have had the one before; and again
  as many at a time as come.

Then 1,000 readers at 20 entries a second; the same with half of them asleep; and the same over 20 sessions that
all speak at once. Exit code 1 if an entry was lost, came twice or out of order, or if an aim was missed: 0.8 of
``bare``, 60 KB for a reader. Whether 20,000 deliveries a second are made depends on who else uses the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from litestar import Litestar, get
from litestar.response import Stream

from dragoman.archive.api import SessionArchive
from dragoman.drive.process.peers import Peers
from dragoman.hub.hub import Entry, Hub, ListReader, LiveSession, Reader
from dragoman.model.messages import Message, Text, encode
from dragoman.web.app import create_app
from dragoman.web.server import listen, serving
from dragoman.web.settings import Settings
from dragoman.web.streams.channels import entry_frame

AT = datetime(2026, 11, 16, tzinfo=UTC)
TEXT = Text(session_id="s1", turn_id="t1", at=AT, text="A sentence of the agent, as they are. " * 4)
_ID = re.compile(rb"id: (\d+)\n")


class MemoryHub(Hub):
    """Sessions that all say the same, and their entries in memory."""

    def __init__(self, sessions: int = 1) -> None:
        self.roots = []
        self._peers = Peers()
        self.kept: dict[str, list[Entry]] = {f"s{n}": [] for n in range(1, sessions + 1)}
        self._readers: dict[str, list[Reader]] = {name: [] for name in self.kept}

    def tell(self, message: Message) -> None:
        for name, kept in self.kept.items():
            entry = Entry(name, len(kept) + 1, AT, encode(message), message)
            kept.append(entry)
            for reader in self._readers[name]:
                reader.put([entry])

    def sessions(self) -> list[LiveSession]:
        return [self.get(name) for name in self.kept]

    def get(self, session_id: str) -> LiveSession:
        last_seq = len(self.kept[session_id])
        facts: dict[str, Any] = {"created_at": AT, "updated_at": AT, "last_seq": last_seq}
        return LiveSession(id=session_id, harness="codex", cwd="/", **facts)

    def entries(self, session_id: str, *, after: int = 0, limit: int = 500) -> list[Entry]:
        return self.kept[session_id][after : after + limit]

    def subscribe(self, session_id: str, *, after: int = 0) -> Reader:
        reader = Reader(lambda seq, limit: self.entries(session_id, after=seq, limit=limit), after)
        self._readers[session_id].append(reader)
        return reader

    def subscribe_all(self) -> ListReader:
        return ListReader()


# Servers.


def frames(count: int) -> list[bytes]:
    return [entry_frame(Entry("s1", n, AT, encode(TEXT), TEXT)) for n in range(1, count + 1)]


def raw_app(ready: list[bytes], begin: asyncio.Event) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for kind in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{kind}.complete"})
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"retry: 1\n\n", "more_body": True})
        await begin.wait()
        for frame in ready:
            await send({"type": "http.response.body", "body": frame, "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return app


def bare_app(ready: list[bytes], begin: asyncio.Event) -> Any:
    @get("/api/v1/sessions/s1/stream")
    async def stream() -> Stream:
        async def loop() -> AsyncGenerator[bytes]:
            yield b"retry: 1\n\n"
            await begin.wait()
            for frame in ready:
                yield frame
                await asyncio.sleep(0)

        return Stream(loop(), media_type="text/event-stream")

    return Litestar([stream], openapi_config=None, logging_config=None)


def serve(kind: str, count: int, rate: float, hub: MemoryHub, *ends: Any) -> None:
    asyncio.run(_serve(kind, count, rate, hub, *ends))


async def _serve(
    kind: str, count: int, rate: float, hub: MemoryHub, on: socket.socket, pipe: Connection
) -> None:
    begin = asyncio.Event()
    hang_up = None
    if kind == "raw":
        app = raw_app(frames(count), begin)
    elif kind == "bare":
        app = bare_app(frames(count), begin)
    else:
        folder = Path(tempfile.mkdtemp())
        port = on.getsockname()[1]
        settings = Settings(token="t" * 40, port=port, slow_seconds=5)
        app = create_app(hub, lambda: SessionArchive(home=folder, cache=folder / "cache"), settings)
        hang_up = app.state.hang_up
    async with serving(app, on, hang_up=hang_up):
        pipe.send(_memory())
        await asyncio.to_thread(pipe.recv)  # all readers are there
        pipe.send(_memory())
        cpu = time.process_time()
        begin.set()
        if kind in ("raw", "bare"):
            await asyncio.to_thread(pipe.recv)
        else:
            await _tell(hub, kind, count, rate)
            await asyncio.to_thread(pipe.recv)
        pipe.send((time.process_time() - cpu, _memory()))
        await asyncio.to_thread(pipe.recv)


async def _tell(hub: MemoryHub, kind: str, count: int, rate: float) -> None:
    at_once = 16 if kind == "ours, many at a time" else 1
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in range(count):
        hub.tell(TEXT)
        if rate:
            await asyncio.sleep(began + (number + 1) / rate - loop.time())
        elif number % at_once == at_once - 1:
            # Round the loop: the channel hears it and wakes the readers, and each of them sends it.
            for _ in range(6):
                await asyncio.sleep(0)


def _memory() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").split("\n"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


# Readers.


class Watcher(asyncio.Protocol):
    """Reads a stream, and sees to it that nothing is missing."""

    def __init__(self, crowd: Crowd, session: int) -> None:
        self._crowd = crowd
        self._session = session
        self._tail = b""
        self._last = 0
        self._is_begun = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        request = "GET /api/v1/sessions/s{}/stream HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n"
        transport.write(request.format(self._session, self._crowd.port, "t" * 40).encode())

    def data_received(self, data: bytes) -> None:
        if not self._is_begun:
            self._is_begun = b"retry" in data
            self._crowd.begun += self._is_begun
        data = self._tail + data
        cut = data.rfind(b"\n") + 1
        self._tail = data[cut:]
        ids = _ID.findall(data, 0, cut)
        if ids:
            first, last = int(ids[0]), int(ids[-1])
            if first != self._last + 1 or last != self._last + len(ids):
                self._crowd.wrong += 1
            self._last = last
            self._crowd.heard(len(ids))


class Crowd:
    def __init__(self, port: int, wanted: int) -> None:
        self.port = port
        self.begun = 0
        self.wrong = 0
        self.got = 0
        self._wanted = wanted
        self.done = asyncio.Event()

    async def all_there(self, readers: int) -> None:
        for _ in range(3_000):
            if self.begun >= readers:
                return
            await asyncio.sleep(0.02)
        raise SystemExit(f"only {self.begun} readers were answered")

    def heard(self, count: int) -> None:
        self.got += count
        if self.got >= self._wanted:
            self.done.set()


async def measure(
    kind: str, readers: int, count: int, *, rate: float = 0, asleep: int = 0, sessions: int = 1
) -> dict[str, float]:
    on = listen("127.0.0.1", 0)
    ours, theirs = get_context("fork").Pipe()
    given = kind, count, rate, MemoryHub(sessions), on, theirs
    process = get_context("fork").Process(target=serve, args=given)
    process.start()
    crowd = Crowd(on.getsockname()[1], (readers - asleep) * count)
    loop = asyncio.get_running_loop()
    before = await asyncio.to_thread(ours.recv)
    awake: list[Watcher] = []
    for number in range(readers):
        watcher = Watcher(crowd, number % sessions + 1)
        await loop.create_connection(lambda made=watcher: made, "127.0.0.1", crowd.port)
        awake.append(watcher)
    await crowd.all_there(readers)
    for watcher in awake[:asleep]:
        watcher.transport.pause_reading()
    ours.send("go")
    there = await asyncio.to_thread(ours.recv)
    began = time.perf_counter()
    async with asyncio.timeout(120 + count / (rate or 1e9)):
        await crowd.done.wait()
    took = time.perf_counter() - began
    ours.send("enough")
    cpu, after = await asyncio.to_thread(ours.recv)
    for watcher in awake:
        watcher.transport.abort()
    ours.send("end")
    await asyncio.to_thread(process.join, 20)
    on.close()
    return {
        "deliveries": crowd.got / took,
        "seconds": took,
        "cpu": cpu,
        "got": crowd.got,
        "wrong": crowd.wrong,
        "kb": (there - before) / readers,
        "kb_after": (after - before) / readers,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--readers", type=int, default=1_000)
    options.add_argument("--entries", type=int, default=100)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=10)
    given = options.parse_args(arguments)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    readers, count = given.readers, given.entries
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {readers:,} readers of one session"
    )
    kinds = ("raw", "bare", "ours, one by one", "ours, many at a time")
    best: dict[str, dict[str, float]] = {}
    for _ in range(given.rounds):
        for kind in kinds:
            told = asyncio.run(measure(kind, readers, count))
            if kind not in best or told["deliveries"] > best[kind]["deliveries"]:
                best[kind] = told
    bare = best["bare"]["deliveries"]
    for kind in kinds:
        told = best[kind]
        print(
            f"{kind:21} {told['deliveries']:9,.0f} deliveries/s  {told['deliveries'] / bare:5.2f} of bare"
            f"  {told['cpu'] / told['got'] * 1e6:5.1f} µs of the server's time each"
            f"  {told['kb']:5.1f} KB a reader  {told['wrong']:.0f} out of order"
        )
    paced = int(20 * given.seconds)
    crowds = (("all awake", 0, 1), ("half asleep", readers // 2, 1), ("20 sessions", 0, 20))
    for words, asleep, sessions in crowds:
        told = asyncio.run(
            measure("ours, one by one", readers, paced, rate=20, asleep=asleep, sessions=sessions)
        )
        best[words] = told
        print(
            f"20 entries/s, {words:11} {told['deliveries']:9,.0f} deliveries/s for {told['seconds']:.1f} s, "
            f"{told['cpu'] / told['seconds']:.0%} of a core, {told['kb_after']:.1f} KB a reader at the end, "
            f"{told['wrong']:.0f} out of order"
        )
    wrong = sum(told["wrong"] for told in best.values())
    ratio = best["ours, one by one"]["deliveries"] / bare
    size = max(told["kb_after"] for words, told in best.items() if words not in kinds)
    is_well = not wrong and ratio >= 0.8 and size <= 60
    print("PASSED" if is_well else f"FAILED: {wrong:.0f} wrong, {ratio:.2f} of bare, {size:.0f} KB")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
