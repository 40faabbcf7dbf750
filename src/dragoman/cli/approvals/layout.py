"""Fits a request into the rows of the screen by cutting its content in the middle, never at an end.

The title, the facts (shell, directory, URL) and at least the start of the content stay visible. A row
in place of the cut says how many rows are hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

_FACT_ROWS: Final = 3
_REASON_ROWS: Final = 3

LeftOut = Callable[[int], str]
"""Makes the row that replaces this many hidden rows."""


@dataclass(frozen=True, slots=True)
class QuestionRows:
    """A request as coloured rows of the terminal's width."""

    title: list[str]
    content: list[str]
    """The complete command, changes or message."""
    facts: list[list[str]] = field(default_factory=list[list[str]])
    reason: list[str] = field(default_factory=list[str])
    """The agent's own explanation."""

    def whole(self) -> list[str]:
        return [*self.title, *self.content, *_flat(self.facts), *self.reason]

    def fitted(self, room: int, left_out: LeftOut) -> tuple[list[str], bool]:
        """The request in at most ``most`` rows, and whether any were hidden."""
        if len(whole := self.whole()) <= room:
            return whole, False
        facts = _flat([shortened(fact, _FACT_ROWS, left_out) for fact in self.facts])
        left = room - len(self.title) - len(facts)
        reason = shortened(self.reason, min(_REASON_ROWS, left // 3), left_out)
        content = shortened(self.content, max(1, left - len(reason)), left_out)
        rows = [*self.title, *content, *facts, *reason]
        if len(rows) > room:  # a terminal of a few rows: the content comes first
            rows = [*content, *facts][: max(0, room)]
        return rows, True


def shortened(rows: Sequence[str], most: int, left_out: LeftOut) -> list[str]:
    """The first and last rows, with one between them that counts the hidden rows."""
    if len(rows) <= most:
        return list(rows)
    if most <= 1:
        return list(rows[: max(0, most)])
    head = most // 2
    tail = most - head - 1
    between = left_out(len(rows) - head - tail)
    return [*rows[:head], between, *(rows[-tail:] if tail else ())]


def _flat(groups: Sequence[Sequence[str]]) -> list[str]:
    return [row for group in groups for row in group]
