"""A connection to a relay: read its records from any number on, and write as the one who may.

The same over a socket of this machine and over any pair of pipes that ends at one (``ssh host dragoman relay pipe``).
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from dragoman.drive.relay import places, records
from dragoman.drive.relay.records import BrokenRecord, Record, RecordSplitter
from dragoman.errors import AgentError

assert sys.platform != "win32"

_ANSWER_SECONDS: Final = 10.0
_CHUNK: Final = 1 << 20
_LIMIT: Final = 1 << 20


class RelayGreeting(NamedTuple):
    """What a relay says to a client that attaches."""

    first: int
    """The oldest record that is kept."""
    next: int
    """The number of the next record: all before it are replayed, all from it on are live."""
    fence: int
    """What allows to write; 0 for a reader."""
    agent_pid: int


class RelayClient:
    """A connection. Use it as an async context manager."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._splitter = RecordSplitter()
        self._ready: deque[Record] = deque()
        self.greeting: RelayGreeting | None = None

    @classmethod
    async def connect(cls, folder: str) -> RelayClient:
        """Connect to the relay in this folder. Raises :class:`AgentError`."""
        try:
            connection = await asyncio.to_thread(places.connect, folder)
            connection.setblocking(False)
            reader, writer = await asyncio.open_unix_connection(sock=connection, limit=_LIMIT)
        except OSError as problem:
            raise AgentError(f"no relay answers in {folder}: {problem.strerror}") from None
        return cls(reader, writer)

    async def __aenter__(self) -> RelayClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def attach(self, first: int = 1, *, write: bool = False) -> RelayGreeting:
        """Get every record from ``first`` on, or only new ones for 0. With ``write``, earlier writers are refused."""
        if first < 0:
            raise ValueError("records are counted from 1")
        self._writer.write(b"attach %d %s\n" % (first, b"w" if write else b"r"))
        record = await self._one(records.GREETING)
        self.greeting = RelayGreeting(*map(int, record.content.split()))
        return self.greeting

    async def records(self) -> AsyncIterator[Record]:
        """Yield records as they come, up to the end of the agent or of the connection."""
        while True:
            while self._ready:
                record = self._ready.popleft()
                yield record
                if record.kind == records.ENDED:
                    return
            if not await self._receive():
                return

    def send(self, name: str, line: bytes) -> None:
        """Send a line to the agent. Its INPUT record says that it is kept, a REFUSED record that it is not sent.

        A name that was used before sends nothing: send again under the same name after a lost connection.
        """
        assert self.greeting is not None
        word = name.encode()
        if not word or any(byte <= 32 for byte in word) or len(word) > 100 or b"\n" in line:
            raise ValueError("a sending needs a short name without spaces, and a single line")
        head = b"send %d %s %d\n" % (self.greeting.fence, word, len(line))
        self._writer.write(head + line)

    async def drained(self) -> None:
        """Wait until what was sent is on its way. Bounded by the caller."""
        await self._writer.drain()

    def end_input(self) -> None:
        """Close the agent's standard input."""
        assert self.greeting is not None
        self._writer.write(b"end %d\n" % self.greeting.fence)

    def stop(self) -> None:
        """End the agent and the relay."""
        self._writer.write(b"stop\n")

    async def status(self) -> dict[str, Any]:
        """Return the relay's state. Only before :meth:`attach`."""
        self._writer.write(b"status\n")
        return json.loads((await self._one(records.STATUS)).content)

    async def _one(self, kind: bytes) -> Record:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                while not self._ready:
                    if not await self._receive():
                        raise AgentError("the relay closed the connection")
        except TimeoutError:
            raise AgentError("the relay did not answer in time") from None
        record = self._ready.popleft()
        if record.kind != kind:
            raise AgentError("the relay gave an answer to another question")
        return record

    async def _receive(self) -> bool:
        try:
            data = await self._reader.read(_CHUNK)
            self._ready += self._splitter.receive(data)
        except (OSError, BrokenRecord):
            return False
        return bool(data)
