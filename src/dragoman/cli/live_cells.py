"""How wide a text is on a terminal, and how it is cut and wrapped to fit.

A terminal counts in cells: a Chinese character takes two, an accent that is put on another letter
none. Texts must be harmless (see :mod:`dragoman.export.render`) and not painted yet.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from dragoman.export import render

_TAB: Final = 4
# CSI, OSC and the two-character sequences: what programs write to colour their output or to move.
_SEQUENCE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_OVERWRITTEN: Final = re.compile(r"[^\n]*\r(?=[^\n\r])")


def cells(text: str) -> int:
    """How many cells a text takes on one line."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def clip(text: str, width: int) -> str:
    """A text in at most ``width`` cells; what is cut off leaves an ellipsis."""
    if cells(text) <= width:
        return text
    return text[: _fit(text, 0, max(0, width - 1))] + "…" * (width > 0)


def _fit(text: str, start: int, width: int) -> int:
    """Where the text from ``start`` has to end to take no more than ``width`` cells."""
    taken = 0
    for index in range(start, len(text)):
        taken += _cell(text[index])
        if taken > width:
            return index
    return len(text)


def rows(text: str, width: int) -> list[tuple[int, int]]:
    """A line in rows of at most ``width`` cells, as begin and end; broken at spaces if possible.

    A row that something follows does not change when the line grows.
    """
    width = max(2, width)
    found: list[tuple[int, int]] = []
    start = 0
    while True:
        end = _fit(text, start, width)
        if end >= len(text):
            found.append((start, len(text)))
            return found
        space = text.rfind(" ", start, end + 1)
        if space > start and text[start:space].strip():
            found.append((start, space))
            start = space + 1
        else:
            found.append((start, end))
            start = end


def wrap(text: str, width: int) -> list[str]:
    """A line in rows of at most ``width`` cells."""
    return [text[begin:end] for begin, end in rows(text, width)]


def tidy(text: str) -> str:
    """What a model wrote, harmless, with spaces for tabs."""
    return render.harmless(text.replace("\r\n", "\n")).expandtabs(_TAB)


def printed(text: str) -> str:
    """What a program printed, as a terminal would show it: no colours, no lines written over."""
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n")
    return tidy(_OVERWRITTEN.sub("", text).replace("\r", ""))


def tidy_lines(text: str) -> list[str]:
    """The lines of what a model wrote, without empty ones at either end."""
    text = text.strip("\r\n")
    return tidy(text).split("\n") if text else []


def counted(count: int, one: str) -> str:
    """``1 line``, ``2 lines``."""
    return f"{count:,} {one}{'s' * (count != 1)}"


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 05 s``."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"
