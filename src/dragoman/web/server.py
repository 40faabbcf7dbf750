"""The server under the application: a socket on this machine, connections that can be cut off, a clean end."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final, cast

import uvicorn
from litestar.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from dragoman.errors import UsageError
from dragoman.web.streaming import ABORT

_BACKLOG: Final = 2048
_KEEP_ALIVE_SECONDS: Final = 30
_GOODBYE_SECONDS: Final = 3


def listen(host: str, port: int) -> socket.socket:
    """A socket to serve on. Raises ``UsageError`` with a sentence if there is none to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(_BACKLOG)
    except OSError as problem:
        made.close()
        if problem.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} is in use; --port 0 takes a free one") from None
        why = problem.strerror or str(problem)
        raise UsageError(f"cannot listen on {host} port {port}: {why}") from None
    made.setblocking(False)
    return made


class _Connections:
    """Tells each request how to cut its connection off: a reader that does not read holds what it has."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = cast("Any", app)
        self._transports: dict[Any, asyncio.Transport] = {}

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        transport = self._transports.get(scope.get("client"))
        if transport is not None:
            scope[ABORT] = partial(_cut_off, transport)
        await self._app(scope, receive, send)

    def protocol(self, *args: Any, **kwargs: Any) -> _Protocol:
        return _Protocol(self._transports, *args, **kwargs)


def _cut_off(transport: asyncio.Transport) -> None:
    """End a connection, and have the system forget what is still to be sent: it may be megabytes."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class _Protocol(H11Protocol):
    def __init__(self, transports: dict[Any, asyncio.Transport], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._transports = transports
        self._peer: Any = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] # as in uvicorn
        super().connection_made(transport)
        self._peer = self.client
        self._transports[self._peer] = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transports.pop(self._peer, None)
        super().connection_lost(exc)


@asynccontextmanager
async def serving(
    app: ASGIApp, on: socket.socket, *, hang_up: Callable[[], None] | None = None
) -> AsyncGenerator[None]:
    """Serve until the block is left; then nothing of it is left either.

    ``hang_up`` ends the streams, which would go on for as long as somebody reads them.
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
            # Before the group hears of what went wrong in the block, if something did: it would cut
            # the server off, and leave its connections open.
            await asyncio.wait([served], timeout=_GOODBYE_SECONDS + 2)


class _Server(uvicorn.Server):
    """Whoever runs us hears signals; a server inside of a program must not."""

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
