"""An input editor for one or more lines, with the usual keys and a history."""

from __future__ import annotations

import re
from typing import Final

from dragoman.cli.live.cells import first_cluster, last_cluster, rows, tidy, wrap
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key

_MOST_ROWS: Final = 8
PROMPT: Final = "\u203a "
_WORD: Final = re.compile(r"\s*\S*")


class Editor:
    """Handles keys; Enter completes an entry."""

    def __init__(self, *, secret: bool = False) -> None:
        self._secret = secret
        """Whether the input is hidden."""
        self.text = ""
        self.cursor = 0
        self._history: list[str] = []
        self._place = 0
        """The position in the history; its end stands for the current input."""
        self._draft = ""

    def press(self, key: Key) -> str | None:
        """Handle a key; returns the entry if the key completed it."""
        before, after = self.text[: self.cursor], self.text[self.cursor :]
        match key.name:
            case "text":
                self._set(before + key.text, after)
            case "newline":
                self._set(before + "\n", after)
            case "enter":
                return self._enter()
            case "backspace":
                self._set(before[: len(before) - last_cluster(before)], after)
            case "delete":
                self._set(before, after[first_cluster(after) :])
            case "cut-before":
                self._set("", after)
            case "cut-after":
                self._set(before, "")
            case "cut-word":
                self._set(before.rstrip()[: -len(_last_word(before)) or None], after)
            case "left":
                self.cursor -= last_cluster(before)
            case "right":
                self.cursor += first_cluster(after)
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

    def put_before(self, text: str) -> None:
        """Insert text before the current input, on separate lines."""
        self._set(f"{text}\n{self.text}" if self.text else text, "")

    @property
    def seen(self) -> str:
        """The input as displayed."""
        return "•" * len(self.text) if self._secret else self.text

    def rows(self, ink: Ink, width: int) -> list[str]:
        """The input rows, with the cursor as a block."""
        mark = "\x00"  # displayed text never contains this character, so it can mark the cursor
        seen = self.seen
        whole = seen[: self.cursor] + mark + seen[self.cursor :]
        lines = whole.split("\n")
        shown: list[str] = []
        for line in lines:
            before, here, after = line.partition(mark)
            if not here:
                shown += wrap(tidy(line), width - 3)
                continue
            under = after[: first_cluster(after)]
            text = tidy(before) + tidy(under) + tidy(after[len(under) :])
            shown += _with_cursor(text, len(tidy(before)), width - 3, ink)
        shown = shown[-_MOST_ROWS:]
        return [ink(PROMPT, "cyan", "bold") + row for row in shown[:1]] + [
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


def _with_cursor(text: str, column: int, width: int, ink: Ink) -> list[str]:
    """The rows of a line, with the cursor at this position."""
    found: list[str] = []
    spans = rows(text, width)
    for number, (begin, end) in enumerate(spans):
        upto = spans[number + 1][0] if number + 1 < len(spans) else len(text) + 1
        row = text[begin:end]
        if begin <= column < upto:
            # The space at which a row was broken is not shown, but the cursor on it is.
            place = min(column - begin, len(row))
            on = row[place : place + first_cluster(row[place:])]
            block = ink(on or " ", "reverse") if ink.colour else f"▏{on}"
            row = row[:place] + block + row[place + len(on) :]
        found.append(row)
    return found
