"""Input of a chat: typed at the terminal below the view, or read from a pipe."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, Protocol

from dragoman.cli.live.cells import tidy, wrap
from dragoman.cli.live.editor import PROMPT, Editor
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key, Keyboard
from dragoman.cli.live.live import LiveView

WAITING: Final = "⧗ waiting for the agent to read this: "


class Lines(Protocol):
    @property
    def is_person(self) -> bool:
        """A source of lines. Typed lines steer the current turn; piped lines wait for it to end."""
        ...

    async def next(self) -> str | None:
        """The next line, or None at the end. Cancelling loses no line."""
        ...

    def clear(self) -> bool:
        """Discard text that was typed but not entered; returns whether there was any."""
        ...

    def invite(self) -> None:
        """Called when the agent is idle: the next line is a prompt."""
        ...

    def pending(self, texts: Sequence[str]) -> None:
        """Show the messages that were sent during the turn and not read by the agent yet."""
        ...

    def give_back(self, text: str) -> bool:
        """Handle a message that the agent never read; returns whether it is back in the input."""
        ...


class TypedLines:
    """Lines typed at a terminal, with the usual editing keys, while the view above keeps updating."""

    is_person = True

    def __init__(self, keyboard: Keyboard, view: LiveView, status: Callable[[], str]) -> None:
        self._keyboard = keyboard
        self._view = view
        self._status = status
        self._ink = Ink(colour=view.colour)
        self._editor = Editor()
        self._pending: list[str] = []
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    @contextmanager
    def open(self) -> Generator[None]:
        with self._keyboard.sent_to(self._press):
            self._view.footer(self._rows)
            yield

    async def next(self) -> str | None:
        return await self._lines.get()

    def invite(self) -> None:
        if self._lines.empty():
            self._show()

    def clear(self) -> bool:
        had = bool(self._editor.text)
        self._editor.clear()
        if had:
            self._view.typing(None)
        self._show()
        return had

    def pending(self, texts: Sequence[str]) -> None:
        self._pending = list(texts)
        self._view.footer(self._rows)

    def give_back(self, text: str) -> bool:
        self._editor.put_before(text)
        self._show()
        return True

    def _show(self) -> None:
        seen = self._editor.seen if self._keyboard.echoes else ""
        self._view.typing(PROMPT + seen)
        self._view.footer(self._rows)

    def _rows(self, width: int) -> list[str]:
        rows: list[str] = []
        for text in self._pending:
            lines = wrap(f"{WAITING}{' '.join(tidy(text).split())}", width)
            rows += [self._ink(row, "dim") for row in lines]
        rows += self._editor.rows(self._ink, width)
        return rows + [self._ink(row, "dim") for row in wrap(self._status(), width)]

    def _press(self, key: Key) -> None:
        if key.name == "end-of-file" and not self._editor.text:
            self._lines.put_nowait(None)
            return
        entry = self._editor.press(key)
        if entry is None:
            self._show()
            return
        self._view.typing(None)
        self._view.footer(self._rows)
        if entry.strip():
            self._lines.put_nowait(entry)


class PipedLines:
    """Lines from standard input, read by a daemon thread: reading a pipe cannot be cancelled."""

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

    def invite(self) -> None:
        pass

    def pending(self, texts: Sequence[str]) -> None:
        pass

    def give_back(self, text: str) -> bool:
        return False

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop is closed, so the line is no longer needed
            if sys.stdin is not None:  # pyright: ignore[reportUnnecessaryComparison]
                for line in sys.stdin:
                    if line.strip():
                        loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\r\n"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)
