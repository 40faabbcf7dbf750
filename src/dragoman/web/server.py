"""Runs the HTTP server: the socket, limits on slow clients, and a clean shutdown."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, Final, NamedTuple, cast

import h11
import uvicorn
from litestar.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from dragoman.errors import UsageError, reason_of
from dragoman.web.guarding import CONNECTION
from dragoman.web.streams.streaming import ABORT

_BACKLOG: Final = 2048
_KEEP_ALIVE_SECONDS: Final = 30
_GOODBYE_SECONDS: Final = 3
_HEAD_SECONDS: Final = 30.0
"""Seconds for a complete request head, from the start of the connection or the previous response."""
_BODY_SECONDS: Final = 60.0
"""Seconds for the body of a request."""
_GONE_SECONDS: Final = 60
"""Seconds that sent data may stay unacknowledged before the system drops the connection (TCP_USER_TIMEOUT).
The client gets no notice of that. So this is longer than the stream's own limit (``Settings.slow_seconds``),
after which we close the connection properly."""
_LOOK_SECONDS: Final = 1.0
_KERNEL_BUFFER: Final = 64 * 1024
"""The kernel's send buffer per client, in bytes; Linux doubles it. The default would be megabytes for each
client that does not read."""
_OWN_BUFFER: Final = 32 * 1024
"""Bytes that we buffer beyond that before writers must wait."""


def listen(host: str, port: int) -> socket.socket:
    """Open the listening socket. Raises ``UsageError``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KERNEL_BUFFER)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if sys.platform == "linux":
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _GONE_SECONDS * 1000)
        made.bind((host, port))
        made.listen(_BACKLOG)
    except OSError as problem:
        made.close()
        if problem.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} is in use (--port 0 picks a free one)") from None
        why = reason_of(problem)
        raise UsageError(f"cannot listen on {host} port {port}: {why}") from None
    made.setblocking(False)
    return made


class _Connections:
    """Gives each request a way to close its connection, and facts about that connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = cast("Any", app)
        self._open: dict[Any, _Connection] = {}

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        connection = self._open.get(scope.get("client"))
        if connection is not None:
            scope[ABORT] = partial(_cut_off, connection.transport)
            scope[CONNECTION] = connection.facts
        await self._app(scope, receive, send)

    def protocol(self, *args: Any, **kwargs: Any) -> _Protocol:
        return _Protocol(self._open, *args, **kwargs)


class _Connection(NamedTuple):
    transport: asyncio.Transport
    facts: dict[str, Any]


def _cut_off(transport: asyncio.Transport) -> None:
    """Abort a connection and discard its unsent data, which may be megabytes."""
    sock = transport.get_extra_info("socket")
    # TCP_USER_TIMEOUT may already have closed the socket.
    if sock is not None and sock.fileno() >= 0:
        with suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


_SECONDS: Final[dict[Any, float]] = {h11.IDLE: _HEAD_SECONDS, h11.SEND_BODY: _BODY_SECONDS}


class _Protocol(H11Protocol):
    def __init__(self, connections: dict[Any, _Connection], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._open = connections
        self._peer: Any = None
        self._state: Any = None
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] # as in uvicorn
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=_OWN_BUFFER)
        self._peer = self.client
        self._open[self._peer] = _Connection(transport, {})
        self._look()

    def _look(self) -> None:
        """Close the connection of a client that does not complete its request, because connections are limited."""
        if self.transport.is_closing():
            return
        now = self.loop.time()
        state = self.cycle, self.conn.their_state
        if state != self._state:
            self._state, self._since = state, now
        most = _SECONDS.get(self.conn.their_state)
        if most is not None and now - self._since > most:
            _cut_off(self.transport)
            return
        self._timer = self.loop.call_later(_LOOK_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.pop(self._peer, None)
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)


@asynccontextmanager
async def serving(
    app: ASGIApp, on: socket.socket, *, hang_up: Callable[[], None] | None = None
) -> AsyncGenerator[None]:
    """Serve until the block ends, then shut down completely.

    ``hang_up`` ends the event streams, which would otherwise last as long as their readers.
    """
    connections = _Connections(app)
    config = uvicorn.Config(
        cast("Any", connections),
        http=cast("Any", connections.protocol),
        ws="none",
        loop="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GOODBYE_SECONDS,
    )
    server = _Server(config)
    async with asyncio.TaskGroup() as group:
        served = group.create_task(server.serve(sockets=[on]))
        await server.is_up.wait()
        try:
            yield
        finally:
            if hang_up is not None:
                hang_up()
            server.should_exit = True
            # Shut down before the task group sees an error from the block: the group would cancel the
            # server and leave its connections open.
            await asyncio.wait([served], timeout=_GOODBYE_SECONDS + 2)


class _Server(uvicorn.Server):
    """A server that installs no signal handlers: the program around it handles signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.is_up.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield
