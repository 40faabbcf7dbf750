from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.export.markdown.pieces import (
    code_span,
    escaped,
    fenced,
    folded,
    inline,
    prose,
    quoted,
)


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("```py\nx", "```py\nx\n```"),
        ("````\n```\nx", "````\n```\nx\n````"),
        ("```py\nx\n```", None),
        ("~~~\n```\n~~~", None),
        ("```not``` a fence", None),
        ("- item\n  ```\n  x", None),
        ("> ```\n> x", None),
        ("1. ```\n   x\n   ```", None),
        ("```md\n- ```\n```", None),
        ("```py\nx\n    ```", "```py\nx\n    ```\n```"),
    ],
)
def test_a_fence_left_open_is_closed(text: str, closed: str | None) -> None:
    assert prose(text) == (closed or text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a <b> c", "a &lt;b> c"),
        ("</details>\n<!-- <?x", "&lt;/details>\n&lt;!-- &lt;?x"),
        ("a < b, 1 <2, <- c", None),
        ("see <https://a.b/c?d> or <mailto:a@b.c>", None),
        ("<https://a.b c>", "&lt;https://a.b c>"),
        ("`<b>` and ``a ` <i>``", None),
        ("`<b> <i>", "`&lt;b> &lt;i>"),
        ("`` <b> ` <i>", "`` &lt;b> ` &lt;i>"),
        ("<a>`<b>`<c>", "&lt;a>`<b>`&lt;c>"),
        ("```\n<b>\n```\n<i>", "```\n<b>\n```\n&lt;i>"),
        ("    <b>\n\n<i>", "    <b>\n\n&lt;i>"),
        ("- a\n\n  ```\n  <b>\n  ```\n- <i>", "- a\n\n  ```\n  <b>\n  ```\n- &lt;i>"),
    ],
    ids=[
        "tag",
        "end, comment, instruction",
        "no tags",
        "addresses",
        "no address",
        "code spans",
        "open span",
        "spans that do not match",
        "around a span",
        "fence",
        "indented",
        "fence in a list",
    ],
)
def test_a_tag_is_shown_unless_it_is_code(text: str, shown: str | None) -> None:
    assert prose(text) == (shown or text)


@pytest.mark.parametrize(
    "text",
    ["`a\n- <b>`", "| `a | <b>` |", "\\`<b>`", "`a\nb` <b> `c`"],
    ids=["over a list item", "over a cell", "escaped tick", "over lines"],
)
def test_a_tag_that_may_not_be_code_is_shown(text: str) -> None:
    assert prose(text) == text.replace("<", "&lt;")


def test_a_paragraph_is_not_read_into_the_next() -> None:
    assert prose("`a\n\n<b>` c") == "`a\n\n&lt;b>` c"


def test_words_inside_a_line_are_no_blocks() -> None:
    assert inline("    <b> `<i>`") == "    &lt;b> `<i>`"
    assert escaped("`<i>`") == "`&lt;i>`"


def test_line_ends_around_the_words_are_left_out() -> None:
    assert prose("\r\n\na\x1b\n\n") == "a␛"


@given(st.text("`~ab \n"))
def test_nothing_inside_a_fence_ends_it(text: str) -> None:
    fence, *inside, last = fenced(text, "").split("\n")

    assert last == fence
    assert not any(re.match(rf" *{fence}", line) for line in inside)


def test_a_fence_is_folded_when_it_is_longer_than_wished() -> None:
    assert fenced("a\nb", "sh", fold_after=2) == "```sh\na\nb\n```"
    assert fenced("a\nb\n", "sh", fold_after=1) == folded("2 lines", "```sh\na\nb\n```")


@given(st.text("`ab "))
def test_nothing_inside_a_code_span_ends_it(text: str) -> None:
    span = code_span(text)
    ticks = re.match("`*", span)
    assert ticks
    inside = span[ticks.end() : len(span) - ticks.end()]

    assert ticks[0] not in re.findall("`+", inside)


def test_a_code_span_is_one_line() -> None:
    assert code_span("a\n  b\x1b") == "`a b␛`"
    assert code_span(" \n") == ""


def test_a_fold_shows_its_title_whatever_it_is() -> None:
    assert folded("<b>\n", "body") == ("<details>\n<summary>&lt;b></summary>\n\nbody\n\n</details>")


def test_every_line_of_a_quotation_is_quoted() -> None:
    assert quoted("a\n\nb") == "> a\n>\n> b"
