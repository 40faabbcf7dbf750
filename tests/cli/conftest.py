"""A terminal that can be looked at, and an agent that says what a test wants."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest

from dragoman.cli.live.cells import cells

_CODE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")


class Terminal(io.StringIO):
    """Takes what is written and shows it as a terminal would; refuses what a view must not write."""

    encoding = "utf-8"  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]

    def __init__(self, width: int = 60) -> None:
        super().__init__()
        self.width = width
        self.rows: list[str] = [""]
        self.row = 0
        self.column = 0
        self.cursor_is_shown = True
        self.wraps = True
        self.frames: list[str] = []

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        at = 0
        while at < len(text):
            if code := _CODE.match(text, at):
                self._obey(code[1], code[2])
                at = code.end()
                continue
            self._put(text[at])
            at += 1
        self.frames.append(self.screen)
        return len(text)

    @property
    def screen(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)

    def _obey(self, number: str, letter: str) -> None:
        match letter, number:
            case "m", _:
                pass
            case "A", _:
                self.row -= int(number)
                assert self.row >= 0
            case "J", "":
                assert self.column == 0
                del self.rows[self.row + 1 :]
                self.rows[self.row] = ""
            case "h" | "l", "?25":
                self.cursor_is_shown = letter == "h"
            case "h" | "l", "?2026":
                pass
            case "h" | "l", "?7":
                self.wraps = letter == "h"
            case _:
                raise AssertionError(f"a view has no business with {number}{letter}")

    def _put(self, character: str) -> None:
        if character == "\n":
            self.row += 1
            self.column = 0
            if self.row == len(self.rows):
                self.rows.append("")
        elif character == "\r":
            self.column = 0
        else:
            assert character.isprintable() or character == "\u200d", repr(character)
            assert self.column + cells(character) <= self.width, self.rows[self.row]
            self.rows[self.row] += character
            self.column += cells(character)


@pytest.fixture
def terminal() -> Callable[..., Terminal]:
    return Terminal
