"""Find the code lines of a Markdown text, and what closes the fence that it leaves open.

This follows CommonMark as far as necessary: a fence inside a list item or a quotation ends with it, any other
fence only ends with its own mark, and a fence has no effect inside another one.
"""

from __future__ import annotations

import re
from typing import Final

_QUOTED: Final = re.compile(r"(?: {0,3}> ?)+")
_ITEM: Final = re.compile(r" *(?P<mark>[-*+]|(?P<number>\d{1,9})[.)])(?P<gap> +|$)")
_FENCE: Final = re.compile(r" *(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_RULE: Final = re.compile(r" *(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$")
_HEADING: Final = re.compile(r" *#{1,6}(?: |$)")


class CodeLines:
    """Reads a text line by line."""

    def __init__(self) -> None:
        self._fence = ""
        """The mark of the open fence, if any."""
        self._is_quoted = False
        """Whether that fence is in a quotation."""
        self._column = 0
        """Where the lines of the list item begin that it is in; 0 if it is in none."""
        self._items: list[int] = []
        """Where the lines of each open list item begin, from the outermost to the innermost."""
        self._is_new_block = True
        """Whether the next line cannot go on with the paragraph of the line before."""

    def have(self, line: str) -> bool:
        """Whether this, the next line of the text, is code or the mark of a fence."""
        line = line.expandtabs(4)
        if self._fence and self._is_inside(line):
            if self._is_end(line):
                self._fence = ""
            return True
        self._fence = ""
        if not line.strip(" "):
            self._is_new_block = True
            return False
        return self._begin(line)

    @property
    def missing_mark(self) -> str:
        """The line that would end a fence which nothing else ends; empty if there is none."""
        return "" if self._is_quoted or self._column else self._fence

    def _is_inside(self, line: str) -> bool:
        if self._is_quoted:
            return _QUOTED.match(line) is not None
        return not line.strip(" ") or _indent(line) >= self._column

    def _is_end(self, line: str) -> bool:
        if self._is_quoted and (quoted := _QUOTED.match(line)):
            line = line[quoted.end() :]
        words = line.strip(" ")
        is_mark = words.startswith(self._fence) and not words.strip(self._fence[0])
        return is_mark and _indent(line) - self._column <= 3

    def _begin(self, line: str) -> bool:
        begin = self._enter_items(line)
        quoted = _QUOTED.match(line, begin)
        words, margin = (quoted.end(), quoted.end()) if quoted else (begin, self._base(begin))
        is_indented = words + _indent(line[words:]) - margin > 3
        if is_indented and self._is_new_block and not quoted:
            return True
        fence = None if is_indented else _FENCE.match(line, words)
        self._is_new_block = bool(
            fence or words >= len(line) or _HEADING.match(line, words) or _RULE.match(line, words)
        )
        if self._is_new_block or quoted:
            self._leave_items(begin)
        if fence:
            self._fence, self._is_quoted = fence["mark"], quoted is not None
            self._column = self._base(begin)
        return fence is not None

    def _enter_items(self, line: str) -> int:
        """Follow the list marks at the beginning of a line to where its words begin."""
        column = _indent(line)
        if self._is_new_block:
            self._leave_items(column)
        while (item := _ITEM.match(line, column)) and self._is_item(line, item, column):
            self._leave_items(column)
            is_near = len(item["gap"]) <= 4 and item.end() < len(line)
            column = item.end() if is_near else item.end("mark") + 1
            self._items.append(column)
            self._is_new_block = True
        return column

    def _is_item(self, line: str, item: re.Match[str], column: int) -> bool:
        if column - self._base(column) > 3 or _RULE.match(line, column):
            return False
        if self._is_new_block or self._items:
            return True
        # Only a non-empty first item interrupts a paragraph.
        return item["number"] in (None, "1") and item.end() < len(line)

    def _base(self, column: int) -> int:
        """Where the lines of the innermost list item begin that reaches to this column."""
        return max((each for each in self._items if each <= column), default=0)

    def _leave_items(self, column: int) -> None:
        self._items = [each for each in self._items if each <= column]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
