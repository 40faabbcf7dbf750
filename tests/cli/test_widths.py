"""Ordinary text is as wide as the tables of Unicode say, and no character of it joins another."""

from __future__ import annotations

import random
import re

import pytest
from wcwidth import iter_graphemes, wcswidth, wcwidth

from dragoman.cli.widths import NARROW, WIDE, simple_fit, simple_width


def members(ranges: str) -> list[str]:
    return [chr(code) for code in range(0x10000) if re.fullmatch(f"[{ranges}]", chr(code))]


@pytest.mark.parametrize(("ranges", "width"), [(NARROW, 1), (WIDE, 2)], ids=["narrow", "wide"])
def test_each_character_is_as_wide_as_unicode_says(ranges: str, width: int) -> None:
    found = members(ranges)

    assert len(found) > 1000
    assert [each for each in found if wcwidth(each) != width] == []
    assert [each for each in found if simple_width(each) != width] == []


def test_no_character_joins_another() -> None:
    every = members(NARROW + WIDE)
    random.Random(1).shuffle(every)
    text = "".join(every)

    assert list(iter_graphemes(text)) == every
    assert simple_width(text) == wcswidth(text)


@pytest.mark.parametrize("text", ["e\u0301", "👩‍🚀", "ก็", "☎\ufe0f", "한\u11ab"])
def test_other_text_is_not_judged(text: str) -> None:
    assert simple_width(text) is None
    assert simple_fit(text, 0, 1) is None


@pytest.mark.parametrize(
    "text", ["plain", "Größe → où?", "設定ファイル ok", "mixed 한국어 → ✓", ""]
)
def test_as_much_fits_as_is_narrow_enough(text: str) -> None:
    for start in range(len(text) + 1):
        for width in range(2 * len(text) + 2):
            end = simple_fit(text, start, width)
            assert end is not None
            assert wcswidth(text[start:end]) <= width
            assert end == len(text) or wcswidth(text[start : end + 1]) > width
