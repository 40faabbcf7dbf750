"""A played agent that is a server over HTTP: requests to lines, and lines to responses and events.

The counterpart of :mod:`dragoman.drive.links.http_link`, for one recording and any number of connections on loopback.
"""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
from collections.abc import Mapping
from typing import Any, BinaryIO, Final

import msgspec

from dragoman.harnesses.contract.playback import HttpPlayback, Performance
from dragoman.rehearsal.http import MalformedHttp, Received, chunk, head, receive

_HOST: Final = "127.0.0.1"
_MOST_WAITING: Final = 10_000
"""Events that a client has not read; one that is further behind is cut off."""


def serve_http(performance: Performance, http: HttpPlayback, out: BinaryIO) -> int:
    """Serve clients until the process is ended."""
    try:
        asyncio.run(PlayedHttpServer(performance, http, os.environ).run(out))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 0
    return 0


class PlayedHttpServer:
    """One server with one recording."""

    def __init__(
        self, performance: Performance, http: HttpPlayback, env: Mapping[str, str]
    ) -> None:
        self._performance = performance
        self._http = http
        self._password = env.get(http.password, "")
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._streams: set[asyncio.Queue[bytes]] = set()
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, out: BinaryIO) -> None:
        """Listen, say where, and serve until cancelled."""
        server = await asyncio.start_server(self._client, _HOST, 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            out.write(f"{self._http.listening(f'http://{_HOST}:{port}')}\n".encode())
            out.flush()
            await server.serve_forever()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await receive(reader)) is not None:
                await self._respond(asked, writer)
        except (MalformedHttp, ConnectionError):
            return  # a client that is gone, or that speaks something else
        finally:
            writer.close()

    async def _respond(self, asked: Received, writer: asyncio.StreamWriter) -> None:
        if not self._is_allowed(asked.headers.get("authorization", "")):
            await _answer(writer, 401, None)
            return
        response = await self._ask(asked)
        status = int(response.get("status") or 500)
        if status == 200 and asked.path.partition("?")[0] in self._http.streams:
            await self._stream(writer)
        else:
            await _answer(writer, status, response.get("body"))

    def _is_allowed(self, authorization: str) -> bool:
        if not self._password:
            return True
        kind, _, pair = authorization.partition(" ")
        try:
            given = base64.b64decode(pair).partition(b":")[2]
        except ValueError:
            return False
        return kind.lower() == "basic" and secrets.compare_digest(given, self._password.encode())

    async def _ask(self, asked: Received) -> dict[str, Any]:
        self._count += 1
        number = self._count
        answered = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        line = {"id": number, "method": asked.method, "path": asked.path, "body": _body(asked)}
        self._performance.receive_line(msgspec.json.encode(line), self._now())
        self._pump()
        return await answered

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        events: asyncio.Queue[bytes] = asyncio.Queue(_MOST_WAITING)
        self._streams.add(events)
        try:
            writer.write(head(200, {"content-type": "text/event-stream"}, None))
            while True:
                await writer.drain()
                writer.write(chunk(b"data: " + await events.get() + b"\n\n"))
        finally:
            self._streams.discard(events)

    def _pump(self) -> None:
        """Deliver what is due, and come back when more is."""
        for line in self._performance.lines_to_send(self._now()):
            given = msgspec.json.decode(line)
            waiting = self._waiting.pop(given.get("id"), None) if "status" in given else None
            if waiting is not None:
                waiting.set_result(given)
                continue
            for events in [*self._streams]:
                if events.full():
                    self._streams.discard(events)
                else:
                    events.put_nowait(line)
        due = self._performance.due_at()
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(due, self._pump) if due is not None else None

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _body(asked: Received) -> Any:
    try:
        return msgspec.json.decode(asked.body) if asked.body else None
    except msgspec.DecodeError:
        return None


async def _answer(writer: asyncio.StreamWriter, status: int, body: Any) -> None:
    data = msgspec.json.encode(body) if body is not None else b""
    writer.write(head(status, {"content-type": "application/json"}, len(data)) + data)
    await writer.drain()
