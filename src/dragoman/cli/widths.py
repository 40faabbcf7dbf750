"""How wide ordinary text is on a terminal, without the tables of Unicode, which take long to import.

Ordinary is text of characters that never combine with another one and whose width is the same on every terminal:
Latin, Greek, Cyrillic, punctuation, arrows and frames in one cell; Chinese, Japanese and Korean in two. For any other
text the answer is None.
"""

from __future__ import annotations

import re
from typing import Final

NARROW: Final = (
    "\x20-\x7e\xa0-\xac\xae-\u02ff\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u048a-\u052f"
    "\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u2319\u2500-\u25fc\u2713\u2714\u2717\u2718"
)
WIDE: Final = (
    "\u3000-\u3029\u3041-\u3096\u309b-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uff01-\uff60\uffe0-\uffe6"
)
"""All of these come after the narrow ones."""
_FIRST_WIDE: Final = "\u3000"
_ordinary = re.compile(f"[{NARROW}{WIDE}]*").fullmatch
_narrow = re.compile(f"[{NARROW}]*").fullmatch


def simple_width(text: str) -> int | None:
    """The cells that an ordinary text takes."""
    if text.isascii():
        return len(text)
    if _narrow(text):
        return len(text)
    if not _ordinary(text):
        return None
    return len(text) + sum([character >= _FIRST_WIDE for character in text])


def simple_fit(text: str, start: int, width: int) -> int | None:
    """The end of the longest part from ``start`` that fits, of an ordinary text."""
    if text.isascii() or _narrow(text):
        return min(len(text), start + max(0, width))
    if not _ordinary(text):
        return None
    taken = 0
    for place in range(start, len(text)):
        taken += 1 + (text[place] >= _FIRST_WIDE)
        if taken > width:
            return place
    return len(text)
