"""Program output as HTML: colors become classes, all other control sequences are removed.

Long output is folded, with its first and last lines visible. Output above the limit is cut in the middle, with a
note.

=====================  =======================================================================
class                  what
=====================  =======================================================================
``output``             a block of output; also ``bad`` when the program failed
``more``               the folded middle, between two such blocks
``left-out``           how much is not on the page
``ansi-bold`` …        bold, dim, italic, underline, strike
``ansi-red`` …         black, red, green, yellow, blue, magenta, cyan, white
=====================  =======================================================================
"""

from __future__ import annotations

import re
from typing import Final

from dragoman.html.pieces import EMPTY, Html, clipped, element, joined, text

OPEN_LINES: Final = 22
"""Output of up to this many lines is not folded."""
ENDS: Final = 8
"""How many lines stay visible at either end of folded output."""
MOST: Final = 200_000
"""The most characters of one output on a page."""

_ESCAPE: Final = re.compile(
    r"\x1b\[(?P<codes>[0-9;:]*)m"
    r"|\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
_COLORS: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_STYLES: Final = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 9: "strike"}
_STYLES_OFF: Final = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 29: ("strike",)}


def output(printed: str, *, is_bad: bool = False) -> Html:
    """Output of a program."""
    printed = printed.replace("\r\n", "\n").strip("\n").rstrip()
    if not printed:
        return EMPTY
    class_ = "output bad" if is_bad else "output"
    gap = len(printed) - MOST
    if gap > 0:
        half = MOST // 2
        head, tail = _lines(printed[:half]), _lines(printed[-half:])
        left_out = element("p", f"… {gap:,} characters left out …", class_="left-out")
        middle = joined([_block(head[ENDS:], class_), left_out, _block(tail[:-ENDS], class_)])
        return _folded(head[:ENDS], middle, f"{gap:,} characters and more", tail[-ENDS:], class_)
    lines = _lines(printed)
    if len(lines) <= OPEN_LINES:
        return _block(lines, class_)
    middle = _block(lines[ENDS:-ENDS], class_)
    count = len(lines) - 2 * ENDS
    return _folded(lines[:ENDS], middle, f"{count:,} more lines", lines[-ENDS:], class_)


def _folded(head: list[Html], middle: Html, title: str, tail: list[Html], class_: str) -> Html:
    more = element("details", element("summary", f"⋯ {title}"), middle, class_="more")
    return joined([_block(head, class_), more, _block(tail, class_)])


def _block(lines: list[Html], class_: str) -> Html:
    # A newline right after <pre> would be dropped by the reader.
    return element("pre", Html("\n"), joined(lines, "\n"), class_=class_) if lines else EMPTY


def _lines(printed: str) -> list[Html]:
    """Each line with the colors that are active at its start."""
    styles: set[str] = set()
    color: str | None = None
    lines: list[Html] = []
    for line in printed.split("\n"):
        line = clipped(line)
        if "\x1b" not in line and not styles and not color:
            lines.append(text(line) or Html(" "))
            continue
        pieces: list[Html] = []
        at = 0
        for found in _ESCAPE.finditer(line):
            pieces.append(_painted(line[at : found.start()], styles, color))
            at = found.end()
            if (codes := found["codes"]) is not None:
                color = _apply(codes, styles, color)
        pieces.append(_painted(line[at:], styles, color))
        lines.append(joined(pieces) or Html(" "))
    return lines


def _painted(words: str, styles: set[str], color: str | None) -> Html:
    names = sorted(styles | {color} if color else styles)
    if not words or not names:
        return text(words)
    return element("span", words, class_=" ".join(f"ansi-{name}" for name in names))


def _apply(codes: str, styles: set[str], color: str | None) -> str | None:
    """Apply the codes to the styles; return the active color."""
    numbers = iter([int(code[:3] or 0) for code in re.split("[;:]", codes)])
    for number in numbers:
        if number == 0:
            styles.clear()
            color = None
        elif number in _STYLES:
            styles.add(_STYLES[number])
        elif number in _STYLES_OFF:
            styles.difference_update(_STYLES_OFF[number])
        elif 30 <= number <= 37 or 90 <= number <= 97:
            color = _COLORS[number % 10]
        elif number in (38, 48):
            # A palette or mixed color: the following numbers belong to it.
            for _ in range({5: 1, 2: 3}.get(next(numbers, 0), 0)):
                next(numbers, 0)
            color = None if number == 38 else color
        elif number == 39:
            color = None
    return color
