"""Patterns match as ``re`` would where both can say, and always come back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.model.forms.patterns import matches

_ATOMS = st.sampled_from(
    ["a", "b", "c", ".", r"\d", r"\w", r"\S", "[ab]", "[^a]", "[a-c1]", "^", "$", r"\b"]
)
_PATTERNS = st.recursive(
    _ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,}", "*?"])).map(
            lambda two: f"({two[0]}){two[1]}"
        )
    ),
    max_leaves=8,
)


@given(pattern=_PATTERNS, text=st.text("abc1 ", max_size=8))
def test_it_finds_what_re_finds(pattern: str, text: str) -> None:
    assert matches(pattern, text) is (re.search(pattern, text) is not None)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^(?<year>\d{4})-\d{2}$", "2026-11", True),
        (r"^(?<year>\d{4})-\d{2}$", "26-11", False),
        (r"^[\w.+-]+@[\w-]+\.[\w.]+$", "a.b+c@d-e.org", True),
        (r"^\x41\u0042$", "AB", True),
        (r"^[\]\\-]$", "]", True),
        (r"a{,2}", "a{,2}", True),
        (r"^é?$", "é", True),
        ("", "anything", True),
        (r"\$\(x\)\/", "$(x)/", True),
        (r"^\d$", "٣", False),
    ],
)
def test_what_schemas_use(pattern: str, text: str, found: bool) -> None:
    assert matches(pattern, text) is found


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?=a)a", "(?<!a)b", r"(a)\1", r"\p{L}", "(", ")", "[", "a**", "*", r"\x4", "\\"),
        *("[b-a]", "(?i)a", "(?P<n>a)", "a{9999999}", "(a{1000}){1000}", "a{3,2}", "(" * 100_000),
    ],
)
def test_what_cannot_be_checked_is_not(pattern: str) -> None:
    assert matches(pattern, "aaaa") is None


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "(a|a)*$b", "^(a|aa)+$", "(.*a){20}$", "^(a?){60}a{60}$"]
)
def test_patterns_that_never_end_elsewhere_end_here(pattern: str) -> None:
    assert matches(pattern, "a" * 59 + "!") is False


def test_a_text_that_would_take_too_long_is_not_checked() -> None:
    assert matches("^(ab?){900}$", "a" * 1_000_000) is None
