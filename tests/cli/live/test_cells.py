from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.live.cells import broken, cells, clip, first_cluster, last_cluster, wrap
from dragoman.cli.live.ink import Ink

WIDE = {
    "❤️": 2,
    "👍🏽": 2,
    "👨‍👩‍👧‍👦": 2,
    "漢字": 4,
    "e\u0301": 1,
    "🇩🇪": 2,
    "1️⃣": 2,
    "abc": 3,
    "☑": 1,
}
PIECES = st.lists(st.sampled_from([*WIDE, " ", "a", "-"]), max_size=40).map("".join)


@pytest.mark.parametrize(("text", "width"), WIDE.items(), ids=WIDE)
def test_how_many_cells_a_text_takes(text: str, width: int) -> None:
    assert cells(text) == width


@given(PIECES, st.integers(8, 30))
def test_no_row_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    rows = wrap(text, width)

    assert all(cells(row) <= width for row in rows)
    assert all(sum(map(cells, row)) <= width for row in rows)  # where each part is drawn by itself
    assert re.sub(" ", "", "".join(rows)) == re.sub(" ", "", text)
    assert cells(clip(text, width)) <= width


@given(PIECES, st.integers(8, 30))
def test_a_painted_row_is_broken_like_any_other(text: str, width: int) -> None:
    rows = broken(Ink(colour=True)(text, "red") + text, width)

    plain = [re.sub("\x1b\\[[0-9;]*m", "", row) for row in rows]
    assert "".join(plain) == text + text
    assert all(sum(map(cells, row)) <= width for row in plain)


@pytest.mark.parametrize("text", [each for each in WIDE if each not in ("漢字", "abc")])
def test_what_a_person_sees_as_one_is_one(text: str) -> None:
    assert first_cluster(text + "x") == len(text)
    assert last_cluster("x" + text) == len(text)
    assert wrap(text * 9, 8)[0].count(text) * len(text) == len(wrap(text * 9, 8)[0])


def test_nothing_has_no_first_and_no_last() -> None:
    assert first_cluster("") == last_cluster("") == 0
