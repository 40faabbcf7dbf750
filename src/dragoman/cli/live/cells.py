"""Measures, cuts and wraps text in terminal cells.

A Chinese character takes two cells, a combining accent none, a family emoji of seven code points two.
Terminals disagree about combined emoji: :func:`cells` follows Unicode, while cutting and wrapping
assume the worst, so that text fits even where each part is drawn separately. Nothing is cut within a
grapheme cluster.

Text must be free of control characters (see :mod:`dragoman.rendering.render`) and, except for
:func:`broken`, of colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from dragoman.cli.widths import simple_fit, simple_width
from dragoman.rendering.harmless import harmless

_TAB: Final = 4
# CSI, OSC and two-character escape sequences, which programs use for colours and cursor movement.
_SEQUENCE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_COLOURS: Final = re.compile(f"({_COLOUR.pattern})")
_RESET: Final = "\x1b[0m"
_OVERWRITTEN: Final = re.compile(r"[^\n]*\r(?=[^\n\r])")


def cells(text: str) -> int:
    """The width of a text on one line, in cells."""
    simple = simple_width(text)
    if simple is not None:
        return simple
    from wcwidth import wcswidth  # imported only when needed: it takes 12 ms

    whole = wcswidth(text)
    return whole if whole >= 0 else sum(map(_cell, text))


@lru_cache(maxsize=4096)
def _cell(character: str) -> int:
    """The width of a single code point, in cells."""
    from wcwidth import wcwidth

    return max(0, wcwidth(character))


def _clusters(text: str, start: int) -> Iterator[tuple[int, int]]:
    """From ``start``: the end of each grapheme cluster, and the most cells that it can take."""
    from wcwidth import iter_graphemes, wcswidth

    end = start
    for cluster in iter_graphemes(text, start):
        end += len(cluster)
        yield end, max(wcswidth(cluster) if len(cluster) > 1 else 0, sum(map(_cell, cluster)))


def first_cluster(text: str) -> int:
    """The number of code points in the first grapheme cluster."""
    return min(1, len(text)) if text[:2].isascii() else next(_clusters(text, 0))[0]


def last_cluster(text: str) -> int:
    """The number of code points in the last grapheme cluster."""
    if text[-1:].isascii():
        return min(1, len(text))
    from wcwidth import grapheme_boundary_before

    return len(text) - grapheme_boundary_before(text, len(text))


def clip(text: str, width: int) -> str:
    """A text in at most ``width`` cells, with an ellipsis if it was cut."""
    if _fit(text, 0, width) >= len(text):
        return text
    return text[: _fit(text, 0, max(0, width - 1))] + "…" * (width > 0)


def _fit(text: str, start: int, width: int) -> int:
    """The end of the longest part from ``start`` that fits ``width`` cells on every terminal."""
    simple = simple_fit(text, start, width)
    if simple is not None:
        return simple
    taken, fits = 0, start
    for end, most in _clusters(text, start):
        taken += most
        if taken > width:
            return fits
        fits = end
    return len(text)


def _fit_some(text: str, start: int, width: int) -> int:
    """Like :func:`_fit`, but at least one grapheme cluster, however wide."""
    end = _fit(text, start, width)
    if end > start or start >= len(text):
        return end
    return next(_clusters(text, start))[0]


def rows(text: str, width: int) -> list[tuple[int, int]]:
    """The start and end of each row of at most ``width`` cells; breaks at spaces if possible.

    When the line grows, only its last row changes.
    """
    width = max(2, width)
    found: list[tuple[int, int]] = []
    start = 0
    while True:
        end = _fit_some(text, start, width)
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


def broken(row: str, width: int) -> list[str]:
    """A coloured row, broken to a terminal of this width; each part keeps its colours."""
    if _fit(plain := _COLOUR.sub("", row), 0, width) >= len(plain):
        return [row]
    found: list[str] = []
    current, colour, room = "", "", width
    for part in _COLOURS.split(row):
        if _COLOUR.fullmatch(part):
            current += part
            colour = "" if part == _RESET else colour + part
            continue
        start = 0
        while start < len(part):
            end = _fit(part, start, room) if room < width else _fit_some(part, start, room)
            current += part[start:end]
            room = max(0, room - sum(most for _, most in _clusters(part[start:end], 0)))
            start = end
            if start < len(part):
                found.append(current + _RESET * bool(colour))
                current, room = colour, width
    return [*found, current]


def tidy(text: str) -> str:
    """Text of a model without control characters, and with tabs expanded."""
    return harmless(text.replace("\r\n", "\n")).expandtabs(_TAB)


def printed(text: str) -> str:
    """Program output as a terminal would show it: without colours and overwritten lines."""
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n")
    return tidy(_OVERWRITTEN.sub("", text).replace("\r", ""))


def tidy_lines(text: str) -> list[str]:
    """The lines of a model's text, without leading and trailing empty lines."""
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


def hung(mark: str, text: str, width: int) -> list[str]:
    """Rows of a text with a mark before the first and the others indented to match."""
    rows = [row for line in tidy_lines(text) for row in wrap(line, width - len(mark))]
    return [mark + row for row in rows[:1]] + [" " * len(mark) + row for row in rows[1:]]
