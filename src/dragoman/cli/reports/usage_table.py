"""The usage table with bars, fitted to the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import TypeAlias

from dragoman.archive.ledger.groups import LedgerGroup
from dragoman.cli.tables import cells as width_of
from dragoman.cli.tables import money
from dragoman.model.usage import Usage
from dragoman.rendering.harmless import flat

Spell: TypeAlias = Callable[[int], str]
_HEADS = (
    "input",
    "cached",
    "cache write",
    "output",
    "reasoning",
    "cost",
    "with agents",
    "reported",
)
_OPTIONAL = ("cache write", "with agents", "reported")
"""Columns that are shown only if there is something in them: not every harness has it."""
_EXTRA = ("with agents", "reported")
"""Columns that a narrow terminal does without."""
_GAP = 2
_LEAST_BAR = 8
_LEAST_NAME = 10
_MOST_BAR = 40
_BLOCKS = " ▏▎▍▌▋▊▉█"


def table(
    made: Sequence[LedgerGroup], whole: LedgerGroup, by: str, width: int, *, color: bool = False
) -> Iterator[str]:
    """The lines of the table, with the totals last."""
    for spell, hidden in ((full, ()), (short, ()), (short, _EXTRA)):
        cells = [_cells(group, spell) for group in made]
        sums = _cells(whole, spell)
        shown = _columns([*cells, sums], hidden)
        widths = [
            max(len(_HEADS[column]), *(len(row[column]) for row in [*cells, sums]))
            for column in shown
        ]
        taken = sum(widths) + _GAP * len(widths)
        if taken + 16 + _LEAST_BAR <= width or (spell is short and taken + _LEAST_NAME <= width):
            break
    longest = max(map(width_of, [by, "total", *(group.key for group in made)]))
    name = max(_LEAST_NAME, min(longest, width - taken - _GAP - _LEAST_BAR))
    bar = min(_MOST_BAR, width - taken - name - _GAP)
    values = [_weight(group) for group in made]
    most = max(values, default=0.0)

    def line(key: str, row: Sequence[str]) -> str:
        columns = [f"{row[column]:>{size}}" for column, size in zip(shown, widths, strict=True)]
        gap = " " * _GAP
        key = _cut(key, name)
        return gap.join([key + " " * (name - width_of(key)), *columns])

    bold, dim, blue, plain = ("\x1b[1m", "\x1b[2m", "\x1b[34m", "\x1b[0m") if color else ("",) * 4
    yield f"{bold}{line(by, _HEADS)}{plain}".rstrip()
    for group, row, value in zip(made, cells, values, strict=True):
        drawn = _bar(value / most, bar) if most and bar >= _LEAST_BAR else ""
        yield f"{line(group.key, row)}  {blue}{drawn}{plain}".rstrip()
    yield f"{dim}{'─' * (name + taken)}{plain}"
    yield f"{bold}{line('total', sums)}{plain}".rstrip()


def _cells(group: LedgerGroup, spell: Spell) -> list[str]:
    usage = group.usage
    if usage is None:
        first = "unknown" if group.silent_sessions else "0"
        return [first, *[""] * (len(_HEADS) - 1)]
    return [
        spell(usage.input_tokens),
        spell(usage.cached_input_tokens),
        spell(usage.cache_write_input_tokens),
        spell(usage.output_tokens),
        spell(usage.reasoning_output_tokens),
        money_of(group),
        money(group.cost_with_sub_agents) if group.cost_with_sub_agents is not None else "",
        money(Decimal(repr(group.reported_cost))) if group.reported_cost is not None else "",
    ]


def _columns(rows: Sequence[Sequence[str]], hidden: Sequence[str]) -> list[int]:
    """The columns to show: those with content, except ``hidden`` ones."""
    return [
        column
        for column in range(len(_HEADS))
        if _HEADS[column] not in hidden
        and (_HEADS[column] not in _OPTIONAL or any(row[column] not in ("0", "") for row in rows))
    ]


def _weight(group: LedgerGroup) -> float:
    """The length of the bar: the cost, if known."""
    return float(group.cost) if group.cost is not None else 0.0


def _bar(share: float, width: int) -> str:
    eighths = round(share * width * 8)
    bar = "█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()
    return bar or ("▏" if share else "")


def _cut(text: str, width: int) -> str:
    """A long name cut at the start, because paths differ at their end."""
    text = flat(text)
    while width_of(text) > width:
        text = "…" + text[2:]
    return text


# Numbers.


def money_of(group: LedgerGroup) -> str:
    """The cost, with a plus if some tokens have no known price."""
    if group.cost is None:
        return "unknown"
    return money(group.cost) + ("+?" if group.unpriced_tokens else "")


def tokens_of(usage: Usage) -> str:
    """The tokens of an entry in one phrase."""
    parts = [f"{usage.input_tokens:,} in"]
    if usage.cached_input_tokens:
        parts.append(f"{usage.cached_input_tokens:,} cached")
    if usage.cache_write_input_tokens:
        parts.append(f"{usage.cache_write_input_tokens:,} written")
    if usage.cache_write_1h_input_tokens:
        parts.append(f"{usage.cache_write_1h_input_tokens:,} of it for an hour")
    parts.append(f"{usage.output_tokens:,} out")
    if usage.reasoning_output_tokens:
        parts.append(f"{usage.reasoning_output_tokens:,} reasoning")
    return ", ".join(parts)


def full(count: int) -> str:
    return f"{count:,}"


def short(count: int) -> str:
    """A count as three digits and a unit letter."""
    if count < 1000:
        return str(count)
    value, letter, letters = float(count), "", "kMGTPE"
    while value >= 999.5:
        value, letter, letters = value / 1000, letters[0], letters[1:]
    return f"{value:.{max(0, 3 - len(str(int(value))))}f}{letter}"
