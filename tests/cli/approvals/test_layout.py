from __future__ import annotations

import pytest

from dragoman.cli.approvals.layout import QuestionRows, shortened


def left_out(count: int) -> str:
    return f"… {count}"


QUESTION = QuestionRows(
    title=["?"],
    content=[f"c{number}" for number in range(100)],
    facts=[["shell"], ["dir"]],
    reason=[f"r{number}" for number in range(50)],
)


def test_what_fits_is_whole() -> None:
    assert QUESTION.fitted(153, left_out) == (QUESTION.whole(), False)


@pytest.mark.parametrize("room", range(1, 153))
def test_no_room_is_exceeded_and_the_content_always_begins(room: int) -> None:
    rows, is_cut = QUESTION.fitted(room, left_out)

    assert is_cut
    assert len(rows) <= room
    assert "c0" in rows
    if room >= 4:
        assert {"shell", "dir"} <= set(rows)
    if room >= 8:
        assert {"?", "c99"} <= set(rows)


def test_rows_are_left_out_in_the_middle() -> None:
    assert shortened(list("abcdefg"), 5, left_out) == ["a", "b", "… 3", "f", "g"]
    assert shortened(list("abc"), 3, left_out) == ["a", "b", "c"]
    assert shortened(list("abc"), 1, left_out) == ["a"]
    assert shortened(list("abc"), 0, left_out) == []
