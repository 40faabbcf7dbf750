"""Colours and gutters of the live view."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Hue: TypeAlias = Literal[
    "bold", "dim", "italic", "reverse", "red", "green", "yellow", "blue", "magenta", "cyan"
]
_CODES: Final[dict[Hue, str]] = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "reverse": "7",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
GUTTER: Final = "  │ "
LAST: Final = "  └ "


class Ink:
    """Colours text that is already free of control characters, if the terminal has colours."""

    def __init__(self, *, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, *hues: Hue) -> str:
        if not self.colour or not hues or not text:
            return text
        return f"\x1b[{';'.join(_CODES[hue] for hue in hues)}m{text}\x1b[0m"

    def gutter(self, line: str, *hues: Hue) -> str:
        """An indented line below a title."""
        return self(GUTTER if line else GUTTER.rstrip(), "dim") + self(line, *hues)

    def last(self, line: str, *hues: Hue) -> str:
        """The last indented line below a title."""
        return self(LAST, "dim") + self(line, *hues)
