"""How wide a text is on a terminal, and how it is cut and wrapped to fit.

A terminal counts in cells: a Chinese character takes two, an accent that is put on another letter
none, a family emoji of seven characters two again. Terminals disagree about emoji that are put
together from others: :func:`cells` is what Unicode says, and texts are cut and wrapped so that they
fit even where each part is drawn by itself. No cut goes through a character that a person sees as one.

Texts must be harmless (see :mod:`dragoman.rendering.render`) and, but for :func:`broken`, not painted yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from dragoman.rendering import render

_TAB: Final = 4
# CSI, OSC and the two-character sequences: what programs write to colour their output or to move.
_SEQUENCE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_COLOURS: Final = re.compile(f"({_COLOUR.pattern})")
_RESET: Final = "\x1b[0m"
_OVERWRITTEN: Final = re.compile(r"[^\n]*\r(?=[^\n\r])")


def cells(text: str) -> int:
    """How many cells a text takes on one line."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # only where a text needs it: the import takes a while

    whole = wcswidth(text)
    return whole if whole >= 0 else sum(map(_cell, text))


@lru_cache(maxsize=4096)
def _cell(character: str) -> int:
    """How many cells a character takes by itself."""
    from wcwidth import wcwidth

    return max(0, wcwidth(character))


def _clusters(text: str, start: int) -> Iterator[tuple[int, int]]:
    """From ``start``: where each character that a person sees ends, and the most cells it may take."""
    from wcwidth import iter_graphemes, wcswidth

    end = start
    for cluster in iter_graphemes(text, start):
        end += len(cluster)
        yield end, max(wcswidth(cluster) if len(cluster) > 1 else 0, sum(map(_cell, cluster)))


def first_cluster(text: str) -> int:
    """How many code points make the first character that a person sees."""
    return min(1, len(text)) if text[:2].isascii() else next(_clusters(text, 0))[0]


def last_cluster(text: str) -> int:
    """How many code points make the last character that a person sees."""
    if text[-1:].isascii():
        return min(1, len(text))
    from wcwidth import grapheme_boundary_before

    return len(text) - grapheme_boundary_before(text, len(text))


def clip(text: str, width: int) -> str:
    """A text in at most ``width`` cells; what is cut off leaves an ellipsis."""
    if _fit(text, 0, width) >= len(text):
        return text
    return text[: _fit(text, 0, max(0, width - 1))] + "…" * (width > 0)


def _fit(text: str, start: int, width: int) -> int:
    """Where the text from ``start`` has to end to take no more than ``width`` cells, anywhere."""
    if text.isascii():
        return min(len(text), start + max(0, width))
    taken, fits = 0, start
    for end, most in _clusters(text, start):
        taken += most
        if taken > width:
            return fits
        fits = end
    return len(text)


def _fit_some(text: str, start: int, width: int) -> int:
    """As :func:`_fit`, but one character at least, however wide it is."""
    end = _fit(text, start, width)
    if end > start or start >= len(text):
        return end
    return next(_clusters(text, start))[0]


def rows(text: str, width: int) -> list[tuple[int, int]]:
    """A line in rows of at most ``width`` cells, as begin and end; broken at spaces if possible.

    A row that something follows does not change when the line grows.
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
    """A painted row in as many rows as it takes on a terminal of this width, each painted alike."""
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
