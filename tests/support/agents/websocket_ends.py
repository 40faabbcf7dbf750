"""A WebSocket server that does as it is told, for the tests of our end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from dragoman.drive.links.link import Exit, Link
from dragoman.drive.links.sockets import open_address
from support.agents.remote_ends import SECONDS, Heard

T = TypeVar("T")
QUIET = logging.Logger("server", level=logging.CRITICAL)
TOKEN = "a-token-that-nobody-shall-see"


class Caller:
    """A client, as the server sees it: frames that came, bytes to write."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.wire = ServerProtocol(max_size=None, logger=QUIET)
        self.headers: dict[str, str] = {}

    async def accept(self) -> None:
        while self.wire.state is State.CONNECTING:
            self.wire.receive_data(await self.reader.read(65536))
            for request in self.wire.events_received():
                self.headers = dict(request.headers.raw_items())  # type: ignore[union-attr]
                self.wire.send_response(self.wire.accept(request))  # type: ignore[arg-type]
            self.flush()

    async def frames(self) -> list[Frame]:
        """The next that come; none at the end."""
        while data := await self.reader.read(1 << 20):
            self.wire.receive_data(data)
            frames = [event for event in self.wire.events_received() if isinstance(event, Frame)]
            self.flush()
            if frames:
                return frames
        return []

    async def message(self) -> bytes:
        parts: list[bytes] = []
        while True:
            for frame in await self.frames():
                parts.append(bytes(frame.data))
                if frame.fin:
                    return b"".join(parts)

    def say(self, text: bytes) -> None:
        self.wire.send_text(text)
        self.flush()

    def flush(self) -> None:
        for data in self.wire.data_to_send():
            if data:
                self.writer.write(data)
            else:
                self.writer.write_eof()


Serve = Callable[[Caller], Awaitable[None]]


def against(
    serve: Serve,
    talk: Callable[[Link, Heard], Awaitable[T]],
    *,
    max_line: int | None = None,
    open_seconds: float = SECONDS,
) -> T:
    """What comes of a talk with a server that serves its one caller like this."""

    async def run() -> T:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await serve(Caller(reader, writer))
            finally:
                writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        heard = Heard()
        async with asyncio.timeout(SECONDS), server:
            link = await open_address(
                f"ws://127.0.0.1:{port}", token=TOKEN, max_line=max_line, open_seconds=open_seconds
            )(heard.receive, heard.close)
            try:
                return await talk(link, heard)
            finally:
                await link.stop()

    return asyncio.run(run())


async def until_the_end(link: Link, heard: Heard) -> tuple[list[bytes], Exit | None]:
    lines = await heard.end()
    assert heard.closed == 1
    return lines, link.exit


async def echo(caller: Caller) -> None:
    await caller.accept()
    while frames := await caller.frames():
        for frame in frames:
            if frame.opcode is Opcode.TEXT:
                caller.say(bytes(frame.data))
