"""One line, or several, that a user is typing: the usual keys, and what was typed before."""

from __future__ import annotations

import re
from typing import Final

from dragoman.cli.live_cells import tidy, wrap
from dragoman.cli.live_ink import Ink
from dragoman.cli.live_keys import Key

_MOST_ROWS: Final = 8
_PROMPT: Final = "\u203a "
_WORD: Final = re.compile(r"\s*\S*")


class Editor:
    """Takes keys; what is typed is an entry when Enter comes."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._history: list[str] = []
        self._place = 0
        """Where we are in the history; at its end is what is being typed."""
        self._draft = ""

    def press(self, key: Key) -> str | None:
        """Take a key; the entry, when it is the one that ends it."""
        before, after = self.text[: self.cursor], self.text[self.cursor :]
        match key.name:
            case "text":
                self._set(before + key.text, after)
            case "newline":
                self._set(before + "\n", after)
            case "enter":
                return self._enter()
            case "backspace":
                self._set(before[:-1], after)
            case "delete":
                self._set(before, after[1:])
            case "cut-before":
                self._set("", after)
            case "cut-after":
                self._set(before, "")
            case "cut-word":
                self._set(before.rstrip()[: -len(_last_word(before)) or None], after)
            case "left":
                self.cursor = max(0, self.cursor - 1)
            case "right":
                self.cursor = min(len(self.text), self.cursor + 1)
            case "word-left":
                self.cursor = len(before.rstrip()) - len(_last_word(before))
            case "word-right":
                found = _WORD.match(after)
                self.cursor += found.end() if found else 0
            case "home":
                self.cursor = 0
            case "end":
                self.cursor = len(self.text)
            case "up":
                self._recall(self._place - 1)
            case "down":
                self._recall(self._place + 1)
            case _:
                pass
        return None

    def clear(self) -> None:
        self._set("", "")
        self._place = len(self._history)

    def rows(self, ink: Ink, width: int) -> list[str]:
        """What is typed, with the cursor as a block."""
        mark = "\x00"  # no text that is shown has one: it is the only place where it stays
        whole = self.text[: self.cursor] + mark + self.text[self.cursor :]
        lines = whole.split("\n")
        shown: list[str] = []
        for line in lines:
            before, here, after = line.partition(mark)
            if not here:
                shown += wrap(tidy(line), width - 2)
                continue
            under = tidy(after[:1]) or " "
            column = len(tidy(before))
            for row in wrap(tidy(before) + under + tidy(after[1:]), width - 2):
                shown.append(_with_cursor(row, column, under, ink))
                column -= len(row) + (1 if column >= len(row) else 0)
        shown = shown[-_MOST_ROWS:]
        return [ink(_PROMPT, "cyan", "bold") + row for row in shown[:1]] + [
            f"  {row}" for row in shown[1:]
        ]

    def _set(self, before: str, after: str) -> None:
        self.text, self.cursor = before + after, len(before)

    def _enter(self) -> str:
        entry = self.text
        if entry.strip() and self._history[-1:] != [entry]:
            self._history.append(entry)
        self.clear()
        return entry

    def _recall(self, place: int) -> None:
        if not 0 <= place <= len(self._history):
            return
        if self._place == len(self._history):
            self._draft = self.text
        self._place = place
        self._set(self._history[place] if place < len(self._history) else self._draft, "")


def _last_word(text: str) -> str:
    return text.rstrip().rpartition(" ")[2]


def _with_cursor(row: str, column: int, under: str, ink: Ink) -> str:
    if not 0 <= column < len(row):
        return row
    block = ink(row[column], "reverse") if ink.colour else "▏" + row[column]
    return row[:column] + block + row[column + 1 :]
