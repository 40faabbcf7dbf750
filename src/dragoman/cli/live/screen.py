"""A terminal of which the last rows change and all rows above them stay as they are.

What is finished scrolls up and belongs to the terminal; the rows below it are painted again whenever
they change. To take them away, their number on the terminal must be known exactly: rows that are too
wide are broken here, and the terminal is told not to break any itself, whatever it thinks of the width
of an emoji. Knows nothing of messages, nor the size or the time unless it is given them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dragoman.cli.live.cells import broken, cells
from dragoman.cli.live.out import Out

_CODE: Final = re.compile(r"\x1b\[[0-9;]*m")
# The terminals that know it show a frame when it is whole; the others ignore it.
_FRAME, _FRAME_ENDS = "\x1b[?2026h", "\x1b[?2026l"
_ONE_ROW_EACH, _AS_BEFORE = "\x1b[?7l", "\x1b[?7h"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"


class Screen:
    def __init__(self, out: Out, *, width: int, height: int) -> None:
        self._out = out
        self.width = width
        self.height = height
        self._shown: list[str] = []
        """The rows that will change, as they were last painted."""
        self._rows = 0
        """How many rows of the terminal they take."""
        self._is_hiding = False

    def resize(self, width: int, height: int) -> None:
        """The terminal has another size now, and has broken long rows anew by itself."""
        if (width, height) == (self.width, self.height):
            return
        self.width, self.height = width, height
        # Each row was at most as wide as the terminal was.
        self._rows = sum(max(1, -(-_width(row) // max(1, width))) for row in self._shown)

    @property
    def most_rows(self) -> int:
        """How many rows can change: one is left to what has scrolled up."""
        return max(1, self.height - 1)

    def paint(self, finished: Sequence[str], live: Sequence[str]) -> None:
        """Let lines scroll up, and show these rows below them."""
        live = [piece for row in live for piece in broken(row, max(2, self.width))]
        live = live[-self.most_rows :]
        if not finished and live == self._shown:
            return
        frame = [_FRAME, self._erasing()]
        frame += [f"{line}\n" for line in finished]
        if live and not self._is_hiding:
            frame.append(_HIDE)
        elif self._is_hiding and not live:
            frame.append(_SHOW)
        if live:
            frame += [_ONE_ROW_EACH, "\n".join(live), _AS_BEFORE]
        frame.append(_FRAME_ENDS)
        self._is_hiding = bool(live)
        self._shown, self._rows = live, len(live)
        self._out.write("".join(frame))

    def _erasing(self) -> str:
        if not self._rows:
            return ""
        up = f"\x1b[{self._rows - 1}A" if self._rows > 1 else ""
        return f"\r{up}\x1b[J"


def _width(row: str) -> int:
    return cells(_CODE.sub("", row))
