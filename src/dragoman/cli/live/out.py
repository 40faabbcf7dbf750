"""Where a view writes: a stream that may be a terminal, and a terminal may go away at any time.

A closed window or a lost connection is no error of ours. What is written after it goes nowhere, and the
command is told once, so that it can end. A pipe without a reader still raises, as everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TextIO

from dragoman.cli.streams import discard, terminal_size


class Out:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._is_terminal = stream.isatty()
        self.is_lost = False
        """Whether the terminal has gone away."""
        self.on_lost: Callable[[], None] | None = None
        """Called once, when it has."""

    def write(self, text: str) -> None:
        if self.is_lost:
            return
        # A terminal that cannot show a character gets its number; a half of one is none.
        safe = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        try:
            self._stream.write(safe)
            self._stream.flush()
        except OSError:
            if not self._is_terminal:
                raise
            self.lose()

    def size(self) -> os.terminal_size:
        return terminal_size(self._stream)

    def lose(self) -> None:
        """The terminal has gone away."""
        if self.is_lost:
            return
        self.is_lost = True
        discard(self._stream)
        if self.on_lost is not None:
            self.on_lost()
