"""The stand-in model on loopback: takes requests, keeps them, carries out the model's answers.

Only what needs a socket or a clock lives here; what to answer is decided in ``answers``.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Iterable

from dragoman.rehearsal import http
from dragoman.rehearsal.actions import Action, HangUp, Head, Wait, json_head
from dragoman.rehearsal.answers import ModelRequest, StandInModel
from dragoman.rehearsal.anthropic.wire import MessagesWire
from dragoman.rehearsal.chat.wire import ChatWire
from dragoman.rehearsal.gemini.wire import GeminiWire
from dragoman.rehearsal.openai.wire import ResponsesWire
from dragoman.rehearsal.requests import HttpRequest
from dragoman.rehearsal.wires import Wire

HOST = "127.0.0.1"
_NO_WIRE = (
    "The stand-in model answers POST /v1/responses, /v1/messages, /v1/chat/completions"
    " and …:streamGenerateContent only."
)

WIRES: tuple[Wire, ...] = (ResponsesWire(), MessagesWire(), ChatWire(), GeminiWire())
"""The APIs that are served, each under its own path."""


class ModelServer:
    """Serves one model until it is closed. All methods belong to the loop that runs it."""

    def __init__(self, model: StandInModel, *, keep: int) -> None:
        self.model = model
        self.requests: deque[ModelRequest] = deque(maxlen=keep)
        self.others: deque[HttpRequest] = deque(maxlen=keep)
        """Requests that are not part of a conversation: lists of models, titles, counts of tokens."""
        self._count = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> int:
        """Begin to listen; the port."""
        self._server = await asyncio.start_server(
            self._connected, HOST, port, limit=http.MAX_HEAD, backlog=1024
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Close all connections."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        writer.transport.set_write_buffer_limits(high=0)  # so that drained means sent
        try:
            await self._converse(reader, writer)
        except (http.MalformedHttp, ConnectionError):
            _hang_up(writer)
        except asyncio.CancelledError:
            _hang_up(writer)  # we are closing; ending quietly is what was asked for
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (received := await http.receive(reader)) is not None:
            await self._play(self._answer(received), reader, writer)
            if writer.is_closing():
                return

    def _answer(self, received: http.Received) -> Iterable[Action]:
        self._count += 1
        request = HttpRequest(
            self._count, received.method, received.path, received.headers, received.body
        )
        wire = next((wire for wire in WIRES if wire.serves(request)), None)
        if wire is None:
            self.others.append(request)
            return _elsewhere(request)
        if not request.body:
            self.others.append(request)
            return (_refusal(400, "The body is not a JSON object."),)
        actions = self.model.auxiliary(wire, request)
        if actions is not None:
            self.others.append(request)
            return actions
        asked = self.model.ask(wire, request)
        self.requests.append(asked)
        return self.model.answer(wire, asked)

    async def _play(
        self, actions: Iterable[Action], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        for action in actions:
            match action:
                case Head(status, headers, body):
                    writer.write(http.head(status, headers, None if body is None else len(body)))
                    if body is not None:
                        writer.write(body)
                        await writer.drain()
                        return
                case Wait(seconds):
                    await writer.drain()
                    await _wait(seconds, reader)
                case HangUp():
                    await writer.drain()
                    _hang_up(writer)
                    return
                case _:
                    writer.write(http.chunk(action))
                    await writer.drain()
        writer.write(http.chunk(b""))
        await writer.drain()


def _elsewhere(request: HttpRequest) -> Iterable[Action]:
    """The answer to a request for which there is no wire."""
    if request.method == "HEAD":
        return (Head(200, {}, b""),)  # an agent that looks whether anything answers
    return (_refusal(404, _NO_WIRE),)


def _refusal(status: int, message: str) -> Head:
    kind = "invalid_request_error"
    return json_head(status, {"type": "error", "error": {"message": message, "type": kind}})


async def _wait(seconds: float | None, reader: asyncio.StreamReader) -> None:
    """Wait, but no longer than the client does: it says nothing more, so any word is goodbye."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await reader.read(1)
            if seconds is not None and not reader.at_eof():
                return
            raise ConnectionResetError("the client is gone")


def _hang_up(writer: asyncio.StreamWriter) -> None:
    """Lose the connection for good, so that the client sees it at once."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
    writer.close()
