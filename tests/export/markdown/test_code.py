from __future__ import annotations

import pytest

from dragoman.export.markdown.code import CodeLines


def read(text: str) -> tuple[str, str]:
    """A letter for each line, ``c`` for code and ``.`` for anything else, and the missing mark."""
    code = CodeLines()
    kinds = "".join("c" if code.have(line) else "." for line in text.split("\n"))
    return kinds, code.missing_mark


@pytest.mark.parametrize(
    ("text", "kinds", "missing"),
    [
        ("a\n```py\nx\n```\nb", ".ccc.", ""),
        ("```py\nx", "cc", "```"),
        ("~~~~\n~~~\nx", "ccc", "~~~~"),
        ("````\n```\nx", "ccc", "````"),
        ("```\nx\n`````", "ccc", ""),
        ("~~~\n```\n~~~\na", "ccc.", ""),
        ("   ```\nx", "cc", "```"),
        ("```not``` a fence", ".", ""),
        ("``` not ` a fence", ".", ""),
        ("~~~ a ` fence", "c", "~~~"),
    ],
    ids=[
        "closed",
        "open",
        "open tildes",
        "shorter inside",
        "longer end",
        "other mark inside",
        "indented a little",
        "code span",
        "tick in the info",
        "tick after tildes",
    ],
)
def test_a_fence_lasts_to_its_own_mark(text: str, kinds: str, missing: str) -> None:
    assert read(text) == (kinds, missing)


@pytest.mark.parametrize(
    "inside", ["    ```", "- ```", "> ```", "``` py", "1. ```"], ids=lambda each: each
)
def test_what_looks_like_a_mark_inside_a_fence_does_not_end_it(inside: str) -> None:
    assert read(f"```md\n{inside}\n```\na") == ("ccc.", "")


@pytest.mark.parametrize(
    ("text", "kinds", "missing"),
    [
        ("- item\n  ```\n  x\n\n  y\n  ```\n  z", ".ccccc.", ""),
        ("1. ```\n   x\n   ```\n2. y", "ccc.", ""),
        ("- item\n  ```\n  x\nafter", ".cc.", ""),
        ("- item\n  ```\n  x\n```\ny", ".cccc", "```"),
        ("- a\n  - b\n\n    ```\n    x\n    ```\n  c", "...ccc.", ""),
        ("* item\n```\nx", ".cc", "```"),
        ("- item\n\nafter\n\n  ```\nx", "....cc", "```"),
        ("- - -\n  ```\nx", ".cc", "```"),
        ("# head\n  ```\nx", ".cc", "```"),
        ("- item\n# head\n  ```\nx", "..cc", "```"),
    ],
    ids=[
        "closed",
        "behind a number",
        "ends with the item",
        "another follows at once",
        "nested",
        "after a list",
        "after the end of a list",
        "after a rule",
        "after a heading",
        "after a heading that ends a list",
    ],
)
def test_a_fence_in_a_list_ends_with_its_item(text: str, kinds: str, missing: str) -> None:
    assert read(text) == (kinds, missing)


@pytest.mark.parametrize(
    ("text", "kinds", "missing"),
    [
        ("> ```\n> x\n> ```\n> y", "ccc.", ""),
        ("> ```\n> x\nafter", "cc.", ""),
        ("> ```\n> x\n\n```\nz", "cc.cc", "```"),
        ("> > ~~~\n> > x\n> > ~~~\n> y", "ccc.", ""),
    ],
    ids=["closed", "ends with the quotation", "another follows", "nested"],
)
def test_a_fence_in_a_quotation_ends_with_it(text: str, kinds: str, missing: str) -> None:
    assert read(text) == (kinds, missing)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("    x\n    y\n\n\tz", "cc.c"),
        ("a\n    goes on", ".."),
        ("a\n\n    x", "..c"),
        ("- item\n\n    goes on", "..."),
        ("- item\n\n      x", "..c"),
        ("    ```\nx", "c."),
        ("2. not a list\n    x", ".."),
        ("a\n2. goes on\n   ```\nx", "..cc"),
        ("-\n```\nx", ".cc"),
    ],
    ids=[
        "from the start",
        "a paragraph goes on",
        "after a paragraph",
        "a list item goes on",
        "in a list item",
        "an indented mark",
        "a lazy line",
        "a number within a paragraph",
        "an empty item",
    ],
)
def test_indented_lines_are_code_where_no_paragraph_goes_on(text: str, kinds: str) -> None:
    assert read(text)[0] == kinds
