"""A streaming response without overhead.

Encoded bytes go directly to the server, without a generator, a queue or a second encoding, because
hundreds of readers may follow the same session.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, cast

from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from dragoman.web.streams import sse
from dragoman.web.streams.channels import Channel, Cursor

ABORT: Final = "dragoman.abort"
"""Scope key: a function that aborts the connection. Set by our server."""

SEND: Final = "dragoman.send"
"""Scope key: the server's own send function. Set by the guard."""


IS_ALLOWED: Final = "dragoman.is_allowed"
"""Scope key: a function that checks whether the login is still valid. Set by the guard."""


class EventStream(ASGIResponse):
    """``pour`` gets a pipe to write to, and returns when the stream is complete."""

    _should_set_content_length = False

    def __init__(
        self,
        pour: Callable[[Pipe], Awaitable[None]],
        *,
        headers: Mapping[str, str] | None = None,
        media_type: str = "text/event-stream",
    ) -> None:
        named = {**(sse.HEADERS if headers is None else headers)}
        super().__init__(body=b"", headers=named, media_type=media_type)
        self._pour = pour

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.start_response(send)
        # Bypass the middleware, which has done its work with the first message.
        known = cast("dict[str, Any]", scope)
        pipe = Pipe(known.get(SEND, send), known.get(ABORT), known.get(IS_ALLOWED))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(pipe.listen(receive))
                await self._pour(pipe)
                pipe.is_over = True
                await pipe.close()
                raise _Over
        except* _Over:
            pipe.is_over = True


class _Over(Exception):
    """The reader has disconnected, or the stream is complete."""


class Pipe:
    """The connection to one reader."""

    __slots__ = (
        "_abort",
        "_loop_time",
        "_send",
        "_task",
        "is_allowed",
        "is_over",
        "sending_since",
    )

    def __init__(
        self,
        send: Send,
        abort: Callable[[], None] | None,
        is_allowed: Callable[[], bool] | None = None,
    ) -> None:
        self._send = cast("Callable[[dict[str, Any]], Awaitable[None]]", send)
        self._abort = abort
        self.is_allowed = is_allowed or (lambda: True)
        self._task = asyncio.current_task()
        self._loop_time = asyncio.get_running_loop().time
        self.sending_since: float | None = None
        """Since when the reader has not taken the data sent to it."""
        self.is_over = False

    async def write(self, data: bytes) -> None:
        """Send; returns when there is room for more."""
        self.sending_since = self._loop_time()
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self.sending_since = None

    async def follow(self, cursor: Cursor, channel: Channel, turn: asyncio.Semaphore) -> None:
        """Send a channel until its end. Equivalent to :meth:`write` for each batch, with less overhead.

        Readers that catch up take turns, because hundreds at once would block all other requests.
        """
        send, now, take = self._send, self._loop_time, cursor.take
        while True:
            if cursor.is_late:
                async with turn:
                    data = take()
                    await asyncio.sleep(0)
            else:
                data = take()
            if data:
                self.sending_since = now()
                await send({"type": "http.response.body", "body": data, "more_body": True})
                self.sending_since = None
            elif channel.is_closed:
                return
            else:
                await channel.wait()

    async def pour(self, pieces: AsyncIterator[bytes]) -> None:
        async for piece in pieces:
            await self.write(piece)

    async def close(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def listen(self, receive: Receive) -> None:
        """Wait until the reader disconnects, and then end the stream."""
        while not self.is_over:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Over

    def give_up(self) -> None:
        """Disconnect the reader, which holds memory for data that it does not take."""
        self.is_over = True
        if self._abort is not None:
            self._abort()
        elif self._task is not None:
            self._task.cancel()
