"""A measured figure, its target, and the last one that was recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

RECORD = Path(__file__).with_name("recorded.json")
_WORSE = 1.10
"""How much worse than the recorded one a figure may be."""


class Figure(NamedTuple):
    """One row of the table."""

    name: str
    ratio: float
    """To the peer; this is what is recorded."""
    target: float
    better: Literal["lower", "higher"] = "lower"
    milliseconds: float | None = None
    """If the target is a time: how long it took."""
    note: str = ""

    @property
    def is_met(self) -> bool:
        measured = self.ratio if self.milliseconds is None else self.milliseconds
        return measured <= self.target if self.better == "lower" else measured >= self.target

    def is_worse(self, recorded: float) -> bool:
        if self.better == "lower":
            return self.ratio > recorded * _WORSE
        return self.ratio * _WORSE < recorded

    def is_better(self, other: Figure) -> bool:
        return self.ratio < other.ratio if self.better == "lower" else self.ratio > other.ratio


def recorded() -> dict[str, float]:
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def record(ratios: Mapping[str, float]) -> None:
    rounded = {name: round(ratio, 3) for name, ratio in ratios.items()}
    text = json.dumps(rounded, indent=2, ensure_ascii=False)
    RECORD.write_text(f"{text}\n", encoding="utf-8")


def line(figure: Figure, known: Mapping[str, float]) -> str:
    """The row of the table."""
    sign = "≤" if figure.better == "lower" else "≥"
    before = known.get(figure.name)
    if figure.milliseconds is None:
        measured, target = f"{figure.ratio:.2f}x", f"{sign} {figure.target:g}x"
    else:
        measured, target = f"{figure.milliseconds:.0f} ms", f"{sign} {figure.target:.0f} ms"
    last = "" if before is None else f"{before:.2f}"
    marks = "met" if figure.is_met else "OPEN"
    if before is not None and figure.is_worse(before):
        marks += ", WORSE"
    return (
        f"{figure.name:44}{measured:>10}{target:>11}{figure.ratio:>8.2f}{last:>7}"
        f"  {marks:12}{figure.note}".rstrip()
    )


HEAD = f"{'':44}{'measured':>10}{'target':>11}{'ratio':>8}{'last':>7}"
