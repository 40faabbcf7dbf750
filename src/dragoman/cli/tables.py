"""Tables that fit the terminal: one column shrinks, the others get the width that they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal


class Column(NamedTuple):
    head: str
    right: bool = False
    most: int = 40
    """The maximum width."""
    gives_way: bool = False
    """Whether the column takes the remaining room instead of the width that it needs."""


def cells(text: str) -> int:
    """The width of a text. Unicode tables are imported only for text that is not ASCII."""
    if text.isascii():
        return len(text)
    from dragoman.cli.live import cells as live_cells

    return live_cells.cells(text)


def _clip(text: str, width: int) -> str:
    if text.isascii():
        return text if len(text) <= width else text[: max(0, width - 1)] + "…" * (width > 0)
    from dragoman.cli.live import cells as live_cells

    return live_cells.clip(text, width)


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """A header and rows, each on one line of at most ``width`` cells."""
    needs = [
        min(
            200 if column.gives_way else column.most,
            max([cells(column.head), *(cells(row[place]) for row in rows)]),
        )
        for place, column in enumerate(columns)
    ]
    shown = list(range(len(columns)))
    flexible = next((place for place, column in enumerate(columns) if column.gives_way), None)

    def taken() -> int:
        return sum(needs[place] for place in shown if place != flexible) + 2 * (len(shown) - 1)

    if flexible is not None:
        least = min(20, needs[flexible])
        # Drop columns from the right: those on the left matter most.
        for place in reversed(range(len(columns))):
            if width - taken() >= least or len(shown) <= 2:
                break
            if place != flexible:
                shown.remove(place)
        needs[flexible] = max(least, min(width - taken(), needs[flexible]))
    lines: list[str] = []
    for row in ([column.head for column in columns], *rows):
        parts: list[str] = []
        for place in shown:
            text = _clip(row[place], needs[place])
            room = " " * (needs[place] - cells(text))
            parts.append(room + text if columns[place].right else text + room)
        lines.append(_clip("  ".join(parts).rstrip(), width))
    return lines


def count(number: int | None) -> str:
    """``950``, ``12.3k``, ``4.56M``; a dash for None."""
    if number is None:
        return "-"
    if number < 1000:
        return str(number)
    for unit, size in (("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)):
        if number < size * 999.5 or unit == "G":
            digits = 0 if number >= 100 * size else 1 if number >= 10 * size else 2
            return f"{number / size:.{digits}f}{unit}"
    return str(number)


def money(cost: Decimal) -> str:
    """US dollars, with more digits for small amounts."""
    return f"${cost:,.4f}" if 0 < cost < 0.1 else f"${cost:,.2f}"
