"""The live view: messages as they come, for a terminal or for a pipe.

On a terminal, the last rows move (see :mod:`dragoman.cli.live_view`). Anywhere else the same messages
make plain lines without a control character, the transcript that ``--to text`` writes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Protocol, TextIO

from dragoman.cli.live_view import TerminalView
from dragoman.export.base import Options
from dragoman.export.text import TextExporter
from dragoman.model.messages import Message


class _View(Protocol):
    def show(self, message: Message) -> None: ...
    def tick(self, now: float) -> None: ...
    def resize(self, width: int, height: int) -> None: ...
    def hint(self, words: str) -> None: ...
    def footer(self, rows: Sequence[str]) -> None: ...
    def say(self, rows: Sequence[str]) -> None: ...
    def close(self) -> None: ...


class LiveView:
    """Shows messages as they come. Has no clock: :meth:`tick` tells it the time."""

    def __init__(
        self, out: TextIO, *, colour: bool, width: int, height: int = 24, animate: bool
    ) -> None:
        self.animate = animate
        self.colour = colour
        self.width = width
        self.footed: list[str] = []
        """What stands there now."""
        self._view: _View = (
            TerminalView(out, colour=colour, width=width, height=height)
            if animate
            else _PlainView(out, colour=colour, width=width)
        )

    def show(self, message: Message) -> None:
        """Something was said."""
        self._view.show(message)

    def tick(self, now: float) -> None:
        """Time went by: it is so many seconds after any moment you like."""
        self._view.tick(now)

    def resize(self, width: int, height: int) -> None:
        """The terminal has another size now."""
        self.width = width
        self._view.resize(width, height)

    def hint(self, words: str) -> None:
        """What the user can do now, for the end of the spinner's line."""
        self._view.hint(words)

    def footer(self, rows: Sequence[str]) -> None:
        """What stands below everything else: a question, or what the user is typing."""
        self.footed = list(rows)
        self._view.footer(rows)

    def say(self, rows: Sequence[str]) -> None:
        """Show lines that no agent said. They must be harmless."""
        self._view.say(rows)

    def close(self) -> None:
        """Keep what was being said, and leave the terminal as it was found."""
        self._view.close()


class _PlainView:
    """Lines, each when it is whole."""

    def __init__(self, out: TextIO, *, colour: bool, width: int) -> None:
        options = Options(include=frozenset({"deltas"}), color=colour, width=width)
        self._exporter = TextExporter(options)
        self._out = out
        self._encoding = getattr(out, "encoding", None) or "utf-8"
        self._is_first = True

    def show(self, message: Message) -> None:
        self._write(self._exporter.export([message]))

    def tick(self, now: float) -> None:
        pass

    def resize(self, width: int, height: int) -> None:
        pass

    def hint(self, words: str) -> None:
        pass

    def footer(self, rows: Sequence[str]) -> None:
        pass

    def say(self, rows: Sequence[str]) -> None:
        lines = rows if self._is_first else ["", *rows]
        self._write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        self._write(self._exporter.finish())

    def _write(self, data: bytes) -> None:
        if not data:
            return
        self._is_first = False
        text = data.decode("utf-8").encode(self._encoding, "backslashreplace")
        self._out.write(text.decode(self._encoding))
        self._out.flush()


def view_for(out: TextIO, env: Mapping[str, str] | None = None) -> LiveView:
    """The view that suits a stream: moving and coloured only on a terminal that wants to be."""
    env = os.environ if env is None else env
    lively = out.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
    size = shutil.get_terminal_size()
    return LiveView(out, colour=lively, width=size.columns, height=size.lines, animate=lively)
