"""Colours the Markdown in an agent's text, line by line, without removing its markers."""

from __future__ import annotations

import re
from typing import Final

from dragoman.cli.live.cells import rows
from dragoman.cli.live.ink import Hue, Ink

_HEADING: Final = re.compile(r"#{1,6} ")
_BULLET: Final = re.compile(r"(\s*)([-*+•]|\d{1,3}[.)])( +)")
_INLINE: Final = re.compile(r"(`+)(?=\S)(?:(?!\1).)+?\1|\*\*(?=\S)[^*]+?\*\*")


class MarkdownRows:
    """Renders a text line by line, and tracks whether it is inside a code block."""

    def __init__(self, ink: Ink) -> None:
        self._ink = ink
        self._fence: str | None = None

    def rows(self, line: str, width: int) -> list[str]:
        """The coloured rows of the next line."""
        mark = line.strip()[:3]
        if mark in ("```", "~~~") and self._fence in (None, mark):
            self._fence = None if self._fence else mark
            return self._painted(line, [("dim",)] * len(line), width)
        if self._fence:
            return self._painted(line, [("cyan",)] * len(line), width)
        return self._prose(line, width)

    def peek(self, line: str, width: int) -> list[str]:
        """The rows of an incomplete line."""
        before = self._fence
        found = self.rows(line, width)
        self._fence = before
        return found

    def _prose(self, line: str, width: int) -> list[str]:
        hues: list[tuple[Hue, ...]] = [()] * len(line)
        if _HEADING.match(line):
            return self._painted(line, [("bold",)] * len(line), width)
        for found in _INLINE.finditer(line):
            hue: tuple[Hue, ...] = ("cyan",) if found[0].startswith("`") else ("bold",)
            hues[found.start() : found.end()] = [hue] * len(found[0])
        bullet = _BULLET.match(line)
        hang = bullet.end() if bullet and bullet.end() < width // 2 else 0
        return self._painted(line, hues, width, hang)

    def _painted(
        self, line: str, hues: list[tuple[Hue, ...]], width: int, hang: int = 0
    ) -> list[str]:
        """Rows of a line with these colours per character; ``hang`` indents the rows after the first."""
        found = rows(line[hang:], width - hang) if hang else rows(line, width)
        painted = [self._row(line, hues, begin + hang, end + hang) for begin, end in found]
        if not hang:
            return painted
        first = self._ink(line[:hang], "dim") + painted[0]
        return [first, *(" " * hang + row for row in painted[1:])]

    def _row(self, line: str, hues: list[tuple[Hue, ...]], begin: int, end: int) -> str:
        row: list[str] = []
        while begin < end:
            upto = begin
            while upto < end and hues[upto] == hues[begin]:
                upto += 1
            row.append(self._ink(line[begin:upto], *hues[begin]))
            begin = upto
        return "".join(row)
