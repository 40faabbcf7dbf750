"""A link to a WebSocket server, over anything that carries bytes: TCP, TLS, a unix socket.

One text message is one line. The rules of the protocol are those of the package ``websockets``, of which
only the core without I/O is used: what arrives is handed over in the same turn of the event loop, no task
waits in between, and no queue fills up.

Learned from real servers (Codex 0.104 to 0.166; see docs/remote.md):

* An offer of compression makes some releases hang up: none is made.
* An ``Origin`` is refused, for it would come from a web page: none is sent.
* A frame of more than 16 MiB ends the connection: long lines are sent in pieces.
* A binary message is not answered: lines are sent as text.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from dragoman.drive.links.link import Closed, Exit, Receive
from dragoman.drive.secrets import mask
from dragoman.errors import AgentError, ProcessExited, ResponseError
from dragoman.wire.lines import DEFAULT_MAX_LINE

if TYPE_CHECKING:
    from websockets.frames import Frame

FRAME_BYTES = 1 << 20
"""How much of a line goes into one frame."""
CLOSE_SECONDS = 2.0
"""How long the other side has for its part of the closing handshake."""
PING_SECONDS = 20.0
DEAF_SECONDS = 60.0
"""A server that was silent for so long, pings included, is gone."""

# The package writes what it sends into its log when that is set to DEBUG: the token, too.
_QUIET = logging.Logger("dragoman.websocket", level=logging.CRITICAL + 1)


class WebSocketLink(asyncio.Protocol):
    """An open connection; see :class:`dragoman.drive.links.link.Link`.

    To be given to the event loop as the protocol of a new transport. It is open once
    :attr:`opened` is done.
    """

    def __init__(
        self,
        uri: str,
        receive: Receive,
        closed: Closed,
        *,
        token: str | None = None,
        max_line: int | None = DEFAULT_MAX_LINE,
    ) -> None:
        from websockets.client import ClientProtocol
        from websockets.uri import parse_uri

        self._wire = ClientProtocol(parse_uri(uri), max_size=max_line, logger=_QUIET)
        self._max_line = max_line
        self._token = token
        self._receive = receive
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parts: list[bytes] = []
        self._exit: Exit | None = None
        self._reason = ""  # ours, if it is we who end it
        self._timers: list[asyncio.TimerHandle] = []
        self._heard_at = self._loop.time()
        self._writable = asyncio.Event()
        self._writable.set()
        self._gone = asyncio.Event()
        self.opened: asyncio.Future[None] = self._loop.create_future()
        """Done when the server has accepted us; fails with the :class:`AgentError` if it does not."""

    # A link, to the rest of the engine room.

    @property
    def pid(self) -> int | None:
        return None

    @property
    def is_supervised(self) -> bool:
        return False

    @property
    def exit(self) -> Exit | None:
        return self._exit

    @property
    def stderr_tail(self) -> str:
        return ""

    def send(self, lines: Iterable[bytes]) -> None:
        if not self._is_open:
            return
        for line in lines:
            self._send_line(line.rstrip(b"\r\n"))
        self._flush()

    async def drained(self) -> None:
        await self._writable.wait()

    async def stop(self) -> Exit:
        self._reason = self._reason or "we closed the connection"
        try:
            if self._is_open:
                self._wire.send_close(1000)
                self._flush()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await self._gone.wait()
        finally:
            self.abort()
        await self._gone.wait()  # it comes with the loop's next turns: we have hung up
        return self._exit or Exit(reason=self._reason)

    def abort(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    # The event loop's side.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)
        request = self._wire.connect()
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token}"
        self._wire.send_request(request)
        self._flush()

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._loop.time()
        self._wire.receive_data(data)
        self._take()
        self._flush()

    def eof_received(self) -> bool:
        self._wire.receive_eof()
        self._take()
        self._flush()
        return False

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in self._timers:
            timer.cancel()
        self._wire.receive_eof()
        self._take()
        self._exit = Exit(reason=self._why(exc))
        self._writable.set()
        self._gone.set()
        if not self.opened.done():
            self.opened.set_exception(self._refusal())
        elif self._wire.handshake_exc is None and not self.opened.cancelled():
            if self._parts:  # the beginning of a message that broke off
                self._receive([b"".join(self._parts)])
            self._closed()

    # The rules of the protocol.

    @property
    def _is_open(self) -> bool:
        from websockets.protocol import State

        return self._exit is None and self._wire.state is State.OPEN

    def _send_line(self, line: bytes) -> None:
        """As one message, in frames of a size that servers take."""
        view = memoryview(line)
        first, *rest = (view[at : at + FRAME_BYTES] for at in range(0, len(view) or 1, FRAME_BYTES))
        self._wire.send_text(bytes(first), fin=not rest)
        for number, part in enumerate(rest, 1):
            self._wire.send_continuation(bytes(part), fin=number == len(rest))

    def _flush(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            self._wire.data_to_send()
            return
        for data in self._wire.data_to_send():
            if data:
                transport.write(data)
            elif transport.can_write_eof():
                transport.write_eof()
        if self._wire.close_expected():
            self._timers.append(self._loop.call_later(CLOSE_SECONDS, transport.abort))

    def _take(self) -> None:
        """Hand over what has come."""
        lines: list[bytes] = []
        for event in self._wire.events_received():
            if hasattr(event, "opcode"):
                self._take_frame(cast("Frame", event), lines)
            elif self._wire.handshake_exc is None and not self.opened.done():
                self.opened.set_result(None)
                self._timers.append(self._loop.call_later(PING_SECONDS, self._ping))
        if self._wire.handshake_exc is not None and not self.opened.done():
            self.opened.set_exception(self._refusal())
        if lines:
            self._receive([*lines])

    def _take_frame(self, frame: Frame, lines: list[bytes]) -> None:
        from websockets.frames import DATA_OPCODES

        if frame.opcode not in DATA_OPCODES:
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            line = b"".join(self._parts).rstrip(b"\r\n")
            self._parts.clear()
            # A line break inside a message is white space between its JSON tokens.
            lines.append(line.replace(b"\n", b" ") if b"\n" in line else line)

    def _ping(self) -> None:
        if not self._is_open:
            return
        if self._loop.time() - self._heard_at >= DEAF_SECONDS:
            self._reason = f"the server has not answered for {DEAF_SECONDS:g} seconds"
            self.abort()
            return
        self._wire.send_ping(b"")
        self._flush()
        self._timers = [self._loop.call_later(PING_SECONDS, self._ping)]

    # What went wrong.

    def _why(self, exc: Exception | None) -> str:
        from websockets.exceptions import PayloadTooBig, ProtocolError

        wire = self._wire
        if self._reason:
            return self._reason
        if isinstance(wire.parser_exc, PayloadTooBig):
            return f"the server sent a message of more than {self._max_line} bytes"
        if isinstance(wire.parser_exc, ProtocolError) and wire.close_rcvd is None:
            return f"the server broke the rules of WebSocket: {wire.parser_exc}"
        if wire.close_rcvd is not None:
            said = f" {wire.close_rcvd.reason}".rstrip()
            return f"the server closed the connection ({wire.close_rcvd.code}{self._hide(said)})"
        return f"the connection broke off{f': {exc}' if exc else ''}"

    def _refusal(self) -> AgentError:
        """Why the server did not accept us."""
        from websockets.exceptions import InvalidStatus

        exc = self._wire.handshake_exc
        if isinstance(exc, InvalidStatus):
            response = exc.response
            body = bytes(response.body or b"")[:200].decode("utf-8", "replace")
            said = self._hide(" ".join(body.split()))
            status = f"{response.status_code} {response.reason_phrase}".strip()
            what = "the token" if response.status_code == 401 else "the connection"
            return ResponseError(
                f"the server refused {what}: {said or status}", code=response.status_code
            )
        error = ProcessExited("the server closed the connection before the WebSocket handshake")
        error.retryable = False
        return error

    def _hide(self, text: str) -> str:
        return mask(text, [self._token] if self._token else [])
