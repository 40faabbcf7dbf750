"""A server that we started, over HTTP, as a link: each request is a task, each response and event a line.

The server listens on loopback and demands a password that is made up for it, so that no other user's program can
approve what the agent asks. Its process is one of ours like any other: with the link it is gone. Every wait has a
bound, and a stream of events that breaks off is opened again, a few times; the conversation is notified, and requests what
it may have missed.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import logging
import os
import secrets as randomness
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from dragoman.drive.links.link import Closed, Exit, Link, OpenLink, Receive
from dragoman.drive.process.child import Process
from dragoman.errors import ProcessExited, ResponseTimeout
from dragoman.harnesses.contract.transport import HttpServer, Launch
from dragoman.wire.http import BrokenResponse, ResponseReader, request
from dragoman.wire.lines import DEFAULT_MAX_LINE, LongLine
from dragoman.wire.sse import EventSplitter

_log = logging.getLogger(__name__)
_CHUNK: Final = 1 << 16
_STREAM: Final = "text/event-stream"
_PASSWORD_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpBounds:
    """How long the other side is waited for, in seconds, and how often a stream is opened again."""

    start: float = 60.0
    """Until the server reports where it listens."""
    connect: float = 10.0
    answer: float = 120.0
    """For a whole response."""
    silence: float = 60.0
    """Of a stream of events; servers send one every few seconds, if only to show that they are there."""
    reopenings: int = 5
    """In a row, without an event in between."""
    pause: float = 0.2
    """Before the first of them; each next one waits longer."""


BOUNDS: Final = HttpBounds()


class RequestLine(msgspec.Struct, frozen=True):
    """A request, as the conversation writes it."""

    id: int
    method: str
    path: str
    body: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decode: Final = msgspec.json.Decoder(RequestLine).decode


class _Place(NamedTuple):
    host: str
    port: int


class HttpLink:
    """An open connection. Everything is called in the thread of the event loop it was started in."""

    def __init__(
        self,
        server: HttpServer,
        receive: Receive,
        closed: Closed,
        *,
        max_line: int | None,
        bounds: HttpBounds,
    ) -> None:
        self._server = server
        self._receive = receive
        self._closed = closed
        self._max_line = max_line
        self._bounds = bounds
        self._password = randomness.token_urlsafe(_PASSWORD_BYTES)
        self._process: Process | None = None
        self._place: _Place | None = None
        self._address: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        """None: the process has ended, and named none."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams: set[int] = set()
        """The requests whose responses are streams of events."""
        self._fresh: set[int] = set()
        """Those that brought an event since they were opened."""
        self._is_over = False
        self._reason = ""

    @classmethod
    async def start(
        cls,
        launch: Launch,
        server: HttpServer,
        receive: Receive,
        closed: Closed,
        *,
        max_line: int | None = DEFAULT_MAX_LINE,
        secrets: Iterable[str] = (),
        bounds: HttpBounds = BOUNDS,
    ) -> HttpLink:
        """Start the server, and wait until it listens. The caller must call :meth:`stop`. Raises :class:`AgentError`."""
        link = cls(server, receive, closed, max_line=max_line, bounds=bounds)
        own = server.variables({**os.environ, **launch.env}, link._password)
        launch = replace(launch, env={**launch.env, **own}, stdin=False)
        link._process = await Process.start(
            launch, link._printed, link._process_ended, secrets=[*secrets, link._password]
        )
        is_ready = False
        try:
            await link._find(launch)
            is_ready = True
        finally:
            if not is_ready:
                link._is_over = True
                await asyncio.shield(link._process.stop())
        return link

    async def _find(self, launch: Launch) -> None:
        assert self._process is not None
        program, seconds = launch.argv[0], self._bounds.start
        try:
            async with asyncio.timeout(seconds):
                address = await asyncio.shield(self._address)
        except TimeoutError:
            said = f"{program} did not say where it listens within {seconds:g} seconds"
            raise ResponseTimeout(said, stderr=self.stderr_tail) from None
        if address is None:
            ended = self._process.exit or Exit()
            raise ProcessExited(
                f"{program} {ended.reason or 'ended'} before it listened",
                exit_code=ended.code,
                stderr=self.stderr_tail,
            )
        self._place = _place(address)

    # The process.

    def _printed(self, lines: list[bytes | LongLine]) -> None:
        for line in lines:
            if isinstance(line, bytes) and not self._address.done():
                address = self._server.address(line)
                if address is not None:
                    self._address.set_result(address)

    def _process_ended(self) -> None:
        if not self._address.done():
            self._address.set_result(None)
        self._end()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def is_supervised(self) -> bool:
        return self._process is not None and self._process.is_supervised

    @property
    def exit(self) -> Exit | None:
        """None while it is open."""
        ended = self._process.exit if self._process is not None else None
        if ended is None and self._is_over:
            return Exit(reason=self._reason)
        return ended

    @property
    def stderr_tail(self) -> str:
        return self._process.stderr_tail if self._process is not None else ""

    async def drained(self) -> None:
        """Wait until every request that was sent is answered, streams aside. Bounded by the caller."""
        asked = [task for task in self._tasks if task.get_name() not in map(str, self._streams)]
        if asked:
            await asyncio.wait(asked)

    async def stop(self) -> Exit:
        """End the server, and leave no process behind. Bounded; never raises."""
        assert self._process is not None
        self._cancel()
        try:
            ended = await self._process.stop()
        finally:
            self._end()
        return ended

    def _end(self, reason: str = "") -> None:
        """No more lines will come."""
        if self._is_over:
            return
        self._is_over, self._reason = True, reason
        self._cancel()
        self._closed()

    def _cancel(self) -> None:
        current = asyncio.current_task()
        for task in self._tasks:
            if task is not current:
                task.cancel()

    # Requests.

    def send(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            if self._is_over:
                return
            asked = _decode(line)
            task = asyncio.ensure_future(self._exchange(asked))
            task.set_name(str(asked.id))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a request to the agent's server failed", exc_info=error)
            self._end("the connection to its server failed")

    async def _exchange(self, asked: RequestLine) -> None:
        """A request up to its response, or a stream for as long as the server is there."""
        failures = 0
        while not self._is_over:
            self._fresh.discard(asked.id)
            try:
                await self._ask(asked)
            except (OSError, BrokenResponse, TimeoutError) as problem:
                if asked.id not in self._streams:
                    self._deliver({"id": asked.id, "error": _sentence(problem)})
            if asked.id not in self._streams:
                return
            failures = 1 if asked.id in self._fresh else failures + 1
            if failures > self._bounds.reopenings:
                self._end("broke off its stream of events")
                return
            await asyncio.sleep(self._bounds.pause * failures)

    async def _ask(self, asked: RequestLine) -> None:
        """Send it and deliver the response, up to its end."""
        bounds, response = self._bounds, ResponseReader()
        body = bytearray()
        async with asyncio.timeout(bounds.answer) as bound:
            reader, writer = await self._connected()
            try:
                writer.write(self._request(asked))
                while not response.is_complete:
                    data = await reader.read(_CHUNK)
                    if not data:
                        response.finish()
                        break
                    part = response.receive(data)
                    if response.status == 200 and response.content_type == _STREAM:
                        bound.reschedule(None)
                        await self._listen(asked, reader, response, part)
                        return
                    body += part
                    if self._max_line is not None and len(body) > self._max_line:
                        raise BrokenResponse(f"the response is longer than {self._max_line} bytes")
            finally:
                writer.close()
        value = self._server.without_secrets(asked.path, _value(bytes(body)))
        self._deliver({"id": asked.id, "status": response.status, "body": value})

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        assert self._place is not None
        async with asyncio.timeout(self._bounds.connect):
            return await asyncio.open_connection(*self._place)

    def _request(self, asked: RequestLine) -> bytes:
        assert self._place is not None
        pair = f"{self._server.user}:{self._password}".encode()
        headers = {"Authorization": "Basic " + base64.b64encode(pair).decode()}
        body = b""
        if isinstance(asked.body, msgspec.Raw) and bytes(asked.body) != b"null":
            body = bytes(asked.body)
            headers["Content-Type"] = "application/json"
        host = f"{self._place.host}:{self._place.port}"
        return request(asked.method, asked.path, host=host, headers=headers, body=body)

    async def _listen(
        self,
        asked: RequestLine,
        reader: asyncio.StreamReader,
        response: ResponseReader,
        part: bytes,
    ) -> None:
        """Deliver events until the stream ends."""
        splitter = EventSplitter(self._max_line)
        self._streams.add(asked.id)
        self._deliver({"id": asked.id, "status": response.status, "body": None})
        while True:
            if (events := splitter.receive(part)) and not self._is_over:
                self._fresh.add(asked.id)
                self._receive(events)
            if response.is_complete:
                return
            async with asyncio.timeout(self._bounds.silence):
                data = await reader.read(_CHUNK)
            if not data:
                return
            part = response.receive(data)

    def _deliver(self, line: dict[str, Any]) -> None:
        if not self._is_over:
            self._receive([msgspec.json.encode(line)])


def open_http(
    launch: Launch,
    server: HttpServer,
    *,
    max_line: int | None = DEFAULT_MAX_LINE,
    secrets: Iterable[str] = (),
    bounds: HttpBounds = BOUNDS,
) -> OpenLink:
    """What opens a link by starting a server."""
    values = tuple(secrets)

    async def open_link(receive: Receive, closed: Closed) -> Link:
        return await HttpLink.start(
            launch, server, receive, closed, max_line=max_line, secrets=values, bounds=bounds
        )

    return open_link


def _place(address: str) -> _Place:
    """Where a server on this machine listens. Raises :class:`ProcessExited` for any other address."""
    host, port = "", None
    try:
        url = urlsplit(address)
        if url.scheme == "http":
            host, port = url.hostname or "", url.port
        is_here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here or port is None:
        raise ProcessExited(f"the server does not listen on loopback but at {address[:200]!r}")
    return _Place(host, port)


def _value(body: bytes) -> Any:
    """A body as a value; text that is not JSON is returned unchanged."""
    if not body.strip():
        return None
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return body.decode("utf-8", "replace")


def _sentence(problem: Exception) -> str:
    if isinstance(problem, TimeoutError):
        return "the server did not answer in time"
    if isinstance(problem, OSError):
        return f"could not connect to the server: {problem.strerror or problem}"
    return str(problem)
