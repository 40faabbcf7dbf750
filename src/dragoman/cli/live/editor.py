"""One line, or several, that a user is typing: the usual keys, and what was typed before."""

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
    """Takes keys; what is typed is an entry when Enter comes."""

    def __init__(self, *, secret: bool = False) -> None:
        self._secret = secret
        """Whether it must not be seen what is typed."""
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
        """Type this before what is there already, on lines of its own."""
        self._set(f"{text}\n{self.text}" if self.text else text, "")

    @property
    def seen(self) -> str:
        """What is typed, as it may be shown."""
        return "•" * len(self.text) if self._secret else self.text

    def rows(self, ink: Ink, width: int) -> list[str]:
        """What is typed, with the cursor as a block."""
        mark = "\x00"  # no text that is shown has one: it is the only place where it stays
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
    """A line in rows, with the cursor before or on the character at this place."""
    found: list[str] = []
    spans = rows(text, width)
    for number, (begin, end) in enumerate(spans):
        upto = spans[number + 1][0] if number + 1 < len(spans) else len(text) + 1
        row = text[begin:end]
        if begin <= column < upto:
            # At the end of a row the space that was broken at is not shown: the cursor is.
            place = min(column - begin, len(row))
            on = row[place : place + first_cluster(row[place:])]
            block = ink(on or " ", "reverse") if ink.colour else f"▏{on}"
            row = row[:place] + block + row[place + len(on) :]
        found.append(row)
    return found
