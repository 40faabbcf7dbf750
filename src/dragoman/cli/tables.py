"""Tables that fit the terminal: one column shrinks, the others get the width that they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dragoman.cli.widths import simple_fit, simple_width

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
    """The width of a text. Unicode tables are imported only for text that is not ordinary."""
    simple = simple_width(text)
    if simple is not None:
        return simple
    from dragoman.cli.live import cells as live_cells

    return live_cells.cells(text)


def _clip(text: str, width: int) -> str:
    simple = simple_width(text)
    if simple is not None:
        if simple <= width:
            return text
        return text[: simple_fit(text, 0, max(0, width - 1))] + "…" * (width > 0)
    from dragoman.cli.live import cells as live_cells

    return live_cells.clip(text, width)


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """A header and rows, each on one line of at most ``width`` cells."""
    rows = [[column.head for column in columns], *rows]
    sizes = [list(map(cells, row)) for row in rows]
    needs = [
        min(200 if column.gives_way else column.most, max(size[place] for size in sizes))
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
    is_narrow = taken() + (needs[flexible] if flexible is not None else 0) <= width
    layout = [(place, needs[place], columns[place].right) for place in shown]
    lines: list[str] = []
    for row, size in zip(rows, sizes, strict=True):
        parts: list[str] = []
        for place, need, right in layout:
            text, own = row[place], size[place]
            if own > need:
                text = _clip(text, need)
                own = cells(text)
            room = " " * (need - own)
            parts.append(room + text if right else text + room)
        line = "  ".join(parts).rstrip()
        lines.append(line if is_narrow else _clip(line, width))
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
