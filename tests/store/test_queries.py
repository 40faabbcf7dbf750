from __future__ import annotations

import pytest

from dragoman.errors import UsageError
from dragoman.store.queries import parse


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("rate limit", '("rate") AND ("limit")'),
        ('"rate limit"', '("rate limit")'),
        ("rate*", '("rate"*)'),
        ("rate -limit", '(("rate")) NOT ("limit")'),
        ('rate -"hard limit"', '(("rate")) NOT ("hard limit")'),
        ("a OR b c", '("a" OR "b") AND ("c")'),
        ("OR a", '("a")'),
        ("src/app.py", '("src/app.py")'),
        ("a *** b", '("a") AND ("b")'),
        ('"unfinished phrase', '("unfinished phrase")'),
        ("AND NOT NEAR", '("AND") AND ("NOT") AND ("NEAR")'),
    ],
)
def test_what_is_typed_becomes_an_expression(text: str, match: str) -> None:
    assert parse(text).match == match


@pytest.mark.parametrize("text", ["", "  ", "***", "-only -exclusions", '""', "[](){}"])
def test_a_query_that_asks_for_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no word"):
        parse(text)


def test_characters_of_chinese_are_words() -> None:
    assert parse("文件").match == '(" 文  件 ")'
    assert parse("文件").needles == ("文件",)
