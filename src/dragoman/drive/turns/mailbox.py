"""Holds messages between the reader, which never waits, and a consumer, which may take its time.

What does not fit into memory goes to a temporary file that no other program can see, and comes back in its
place. Deltas are not worth that: once there is no room they are dropped, and counted; the whole always
follows. Should the disk be full as well, memory it is.

Where a message waits, from the oldest to the newest: ``_ready`` in memory, then the file, then
``_late`` in memory, which is used only when the file could not be.

One consumer, in the thread of the event loop that the messages come from.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import msgspec

from dragoman.model.messages import Delta, Message, decode, encode

_log = logging.getLogger(__name__)

MAX_MESSAGES: Final = 10_000
MAX_BYTES: Final = 64 << 20
_READ_BYTES: Final = 1 << 18
_OVERHEAD: Final = 100
"""What a message takes besides its texts, roughly."""


class Mailbox:
    """Messages in order, none lost except deltas without a reader."""

    def __init__(self, *, max_messages: int = MAX_MESSAGES, max_bytes: int = MAX_BYTES) -> None:
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._ready: deque[tuple[Message, int]] = deque()
        self._bytes = 0  # of what is ready
        self._file = _Overflow()
        self._late: deque[tuple[Message, int]] = deque()
        self._is_closed = False
        self._error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.dropped = 0
        """Deltas that found no room."""
        self.spilled = 0
        """Messages that went through the file."""
        self.unspilled = 0
        """Messages that should have, but there was no room on the disk either."""

    def __len__(self) -> int:
        return len(self._ready) + self._file.waiting + len(self._late)

    def put(self, message: Message) -> None:
        """Take a message. Never waits and never raises; after :meth:`close` nothing is taken."""
        if self._is_closed:
            return
        is_delta = isinstance(message, Delta)
        # Deltas come by the thousand; what else they hold, their message has only once.
        size = _OVERHEAD + (len(message.text) if is_delta else _size_of(message))
        if not self._file.waiting and not self._late and self._has_room(size):
            self._ready.append((message, size))
            self._bytes += size
        elif is_delta:
            self.dropped += 1
            return
        elif not self._late and self._file.write(message):
            self.spilled += 1
        else:
            self._late.append((message, size))
            self.unspilled += 1
        if self._waiter is not None:
            self._wake()

    async def get(self) -> Message | None:
        """The next message; None when the mailbox is closed and empty, or the error it closed with."""
        while not self._ready and not self._fetch():
            if self._is_closed:
                if self._error is not None:
                    raise self._error
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        message, size = self._ready.popleft()
        self._bytes -= size
        return message

    async def __aiter__(self) -> AsyncIterator[Message]:
        while (message := await self.get()) is not None:
            yield message

    def close(self, error: BaseException | None = None) -> None:
        """Nothing more comes: what is there is still handed out, and then ``error`` is raised."""
        if not self._is_closed:
            self._is_closed = True
            self._error = error
            self._wake()

    def discard(self) -> None:
        """No more reads: close it and release everything."""
        self.close()
        self._ready.clear()
        self._late.clear()
        self._file.close()

    def _has_room(self, size: int) -> bool:
        # One message is always held, whatever its size.
        return not self._ready or (
            len(self._ready) < self._max_messages and self._bytes + size <= self._max_bytes
        )

    def _fetch(self) -> bool:
        """Make ready what waits behind."""
        if self._file.waiting:
            self._ready.extend((message, 0) for message in self._file.read())
        elif self._late:
            self._ready, self._late = self._late, self._ready
            self._bytes = sum(size for _, size in self._ready)
        return bool(self._ready)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class _Overflow:
    """Messages in a file without a name, one per line, first in, first out."""

    def __init__(self) -> None:
        self._file: Any = None
        self._written: int = 0
        self._read: int = 0
        self.waiting = 0

    def write(self, message: Message) -> bool:
        """Whether the message is in the file now."""
        try:
            data = encode(message) + b"\n"
            if self._file is None:
                # Closed when it is read to its end, which no block of code knows.
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            self._file.seek(self._written)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        except (OSError, ValueError, TypeError, OverflowError) as error:
            # The disk is full, or a value in the message is not JSON. What was written does not
            # count: the next one is written over it.
            _log.warning("a message stays in memory: %s", error)
            return False
        self._written += len(data)
        self.waiting += 1
        return True

    def read(self) -> list[Message]:
        """At least one, and no more than a good bite of them."""
        bite = _READ_BYTES
        while True:
            self._file.seek(self._read)
            chunk: bytes = self._file.read(min(bite, self._written - self._read))
            end: int = chunk.rfind(b"\n") + 1
            if end:
                break
            bite *= 2  # a message that is longer than that
        self._read += end
        messages = [decode(line) for line in chunk[: end - 1].split(b"\n")]
        self.waiting -= len(messages)
        if not self.waiting:
            self.close()
        return messages

    def close(self) -> None:
        self.waiting = self._written = self._read = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()


def _size_of(value: object) -> int:
    """About as many bytes as the texts in it have."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, msgspec.Struct):
        inside = msgspec.structs.astuple(value)
    elif isinstance(value, dict):
        keyed = cast("dict[str, Any]", value)
        inside = (*keyed, *keyed.values())
    elif isinstance(value, (list, tuple)):
        inside = cast("tuple[Any, ...]", value)
    else:
        return 8
    size = 0
    for item in inside:
        if isinstance(item, str):
            size += len(item)
        elif item is not None:
            size += _size_of(item)
    return size
