"""A terminal whose last rows are repainted, while the rows above them scroll up and stay.

To erase the last rows, their exact number on the terminal must be known. So rows that are too wide are
broken here, and automatic wrapping is switched off, because terminals disagree about the width of emoji.
This module knows nothing about messages; size and time are passed in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dragoman.cli.live.cells import broken, cells
from dragoman.cli.live.out import Out

_CODE: Final = re.compile(r"\x1b\[[0-9;]*m")
# Synchronized output: terminals that support it show complete frames only; others ignore it.
_FRAME, _FRAME_ENDS = "\x1b[?2026h", "\x1b[?2026l"
_ONE_ROW_EACH, _AS_BEFORE = "\x1b[?7l", "\x1b[?7h"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"


class Screen:
    def __init__(self, out: Out, *, width: int, height: int) -> None:
        self._out = out
        self.width = width
        self.height = height
        self._shown: list[str] = []
        """The repaintable rows, as last painted."""
        self._rows = 0
        """The number of terminal rows that they take."""
        self._is_hiding = False

    def resize(self, width: int, height: int) -> None:
        """Adapt to a new size. The terminal has already wrapped long rows again."""
        if (width, height) == (self.width, self.height):
            return
        self.width, self.height = width, height
        # No row was wider than the old terminal.
        self._rows = sum(max(1, -(-_width(row) // max(1, width))) for row in self._shown)

    @property
    def most_rows(self) -> int:
        """The most repaintable rows: all but one, which stays for scrolled output."""
        return max(1, self.height - 1)

    def paint(self, finished: Sequence[str], live: Sequence[str]) -> None:
        """Write finished lines, and paint these rows below them."""
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
