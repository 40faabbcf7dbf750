"""Small Python programs as processes, and what they send."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from dragoman.drive.process.child import Grace, Process
from dragoman.harnesses.contract.transport import Launch
from dragoman.wire.lines import LongLine

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


QUICK = Grace(eof=0.1, terminate=0.1, left=0.2)


class Heard:
    """What came, and how often we were told that no more will."""

    def __init__(self) -> None:
        self.lines: list[bytes | LongLine] = []
        self.ends = 0
        self.lines_at_end = -1
        self._news = asyncio.Event()

    def receive(self, lines: list[bytes | LongLine]) -> None:
        assert not self.ends
        self.lines += lines
        self._news.set()

    def closed(self) -> None:
        self.ends += 1
        self.lines_at_end = len(self.lines)

    async def until(self, count: int) -> None:
        while len(self.lines) < count:
            self._news.clear()
            await self._news.wait()

    async def pid(self) -> int:
        """The first line is the number of a process."""
        await self.until(1)
        assert isinstance(self.lines[0], bytes)
        return int(self.lines[0])


def run(main: Coroutine[Any, Any, None], seconds: float = 20) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await main

    asyncio.run(bounded())


def python(source: str, **options: Any) -> Launch:
    return Launch(argv=(sys.executable, "-I", "-S", "-c", source), **options)


@asynccontextmanager
async def running(
    launch: Launch | str, **options: Any
) -> AsyncGenerator[tuple[Process, Heard], None]:
    heard = Heard()
    launch = python(launch) if isinstance(launch, str) else launch
    process = await Process.start(launch, heard.receive, heard.closed, **options)
    try:
        yield process, heard
    finally:
        await process.stop()
