from __future__ import annotations

import pytest

from dragoman.cli.live.cells import cells
from dragoman.cli.tables import Column, count, table

_COLUMNS = (
    Column("id"),
    Column("title", gives_way=True),
    Column("turns", right=True),
    Column("model", most=6),
)
_ROWS = [("1", "a title that is rather long", "12", "a-long-name"), ("22", "文件", "3", "m")]


@pytest.mark.parametrize("width", [20, 30, 40, 60, 100])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = table(_COLUMNS, _ROWS, width)

    assert len(lines) == 3
    assert all(cells(line) <= width for line in lines)


def test_columns_stand_below_one_another() -> None:
    assert table(_COLUMNS, _ROWS, 100) == [
        "id  title                        turns  model",
        "1   a title that is rather long     12  a-lon…",
        "22  文件                             3  m",
    ]


def test_where_there_is_no_room_the_last_columns_go() -> None:
    assert table(_COLUMNS, _ROWS, 31)[0].split() == ["id", "title", "turns"]
    assert table(_COLUMNS, _ROWS, 25)[0].split() == ["id", "title"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (None, "-"),
        (0, "0"),
        (999, "999"),
        (1000, "1.00k"),
        (12_345, "12.3k"),
        (999_499, "999k"),
        (999_600, "1.00M"),
        (1_234_567, "1.23M"),
        (5_000_000_000, "5.00G"),
        (5_000_000_000_000, "5000G"),
    ],
)
def test_numbers_are_short(number: int | None, words: str) -> None:
    assert count(number) == words
