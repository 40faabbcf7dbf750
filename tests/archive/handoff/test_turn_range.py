from __future__ import annotations

import pytest

from dragoman.archive.handoff.turn_range import TurnRange
from dragoman.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", [3]),
        ("3..", [3, 4, 5]),
        ("..2", [1, 2]),
        ("2..4", [2, 3, 4]),
        ("-2..", [4, 5]),
        ("-1", [5]),
        ("..-2", [1, 2, 3, 4]),
        (" 2 .. 3 ", [2, 3]),
        ("9..", []),
        ("4..2", []),
    ],
)
def test_a_range_of_five_turns(text: str, expected: list[int]) -> None:
    chosen = TurnRange.parse(text)
    assert [number for number in range(1, 6) if chosen.holds(number, 5)] == expected


@pytest.mark.parametrize(
    "text", ["", "..", "0", "0..", "a", "3...", "1-3", "1..2..3", "--1", "9" * 30]
)
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(UsageError, match="not a range of turns"):
        TurnRange.parse(text)
