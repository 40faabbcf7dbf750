"""Where the lines of a chat come from: a person who types them below the view, or a script in a pipe."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Protocol

from dragoman.cli.live import LiveView
from dragoman.cli.live_editor import Editor
from dragoman.cli.live_ink import Ink
from dragoman.cli.live_keys import Key, Keyboard


class Lines(Protocol):
    @property
    def is_person(self) -> bool:
        """A person means the agent's present work; a script waits for its turn."""
        ...

    async def next(self) -> str | None:
        """The next line; none when no more will come. May be cancelled without losing one."""
        ...

    def clear(self) -> bool:
        """Forget what is typed but not entered; whether there was something."""
        ...


class TypedLines:
    """What is typed at a terminal, with the usual keys, while the view goes on above."""

    is_person = True

    def __init__(self, keyboard: Keyboard, view: LiveView, status: Callable[[], str]) -> None:
        self._keyboard = keyboard
        self._view = view
        self._status = status
        self._ink = Ink(colour=view.colour)
        self._editor = Editor()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    @contextmanager
    def open(self) -> Generator[None]:
        with self._keyboard.heard_by(self._press):
            self.paint()
            yield

    async def next(self) -> str | None:
        self.paint()
        return await self._lines.get()

    def clear(self) -> bool:
        had = bool(self._editor.text)
        self._editor.clear()
        self.paint()
        return had

    def paint(self) -> None:
        rows = self._editor.rows(self._ink, self._view.width - 1)
        status = self._ink(self._status(), "dim")
        self._view.footer([*rows, status])

    def _press(self, key: Key) -> None:
        if key.name == "end-of-file" and not self._editor.text:
            self._lines.put_nowait(None)
            return
        entry = self._editor.press(key)
        self.paint()
        if entry is not None and entry.strip():
            self._lines.put_nowait(entry)


class PipedLines:
    """Lines from standard input. They are read by a thread that nobody has to wait for."""

    is_person = False

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    @contextmanager
    def open(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()
        yield

    async def next(self) -> str | None:
        return await self._lines.get()

    def clear(self) -> bool:
        return False

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
            if sys.stdin is not None:  # pyright: ignore[reportUnnecessaryComparison]
                for line in sys.stdin:
                    if line.strip():
                        loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\r\n"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)
