"""The output stream of a view, which survives the loss of its terminal.

A closed window or a lost connection is not an error: later output is discarded, and a callback tells
the command once, so that it can end. A pipe without a reader still raises, as elsewhere.
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
        """Called once when the terminal is gone."""

    def write(self, text: str) -> None:
        if self.is_lost:
            return
        # Characters that the terminal's encoding lacks are written as escapes.
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
