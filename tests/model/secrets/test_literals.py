"""The substrings that a pattern needs are in every text in which it finds something."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.model.secrets.assigning import lowered
from dragoman.model.secrets.literals import Needs, needs_of
from dragoman.model.secrets.places import PLACES
from support.secret_corpora import held_out, templates, third
from support.secret_corpora.filling import samples


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        ("abc", Needs(exact=(("abc",),))),
        ("ab?cd", Needs(exact=(("cd",),))),
        ("(?:ab|cd)e", Needs(exact=(("abe", "cde"),))),
        ("(?:ab)+x", Needs(exact=(("abx",), ("ab",)))),
        ("(?:ab)*xy", Needs(exact=(("xy",),))),
        ("(?i:Ab)[ :]x", Needs(folded=(("ab ", "ab:"),))),
        ("(?i)Ab-c", Needs(folded=(("ab-c",),))),
        ("(?<=key=)\\w+", Needs(exact=(("key=",),))),
        ("(?!key=)xy", Needs(exact=(("xy",),))),
        ("(?:ab|\\w)", Needs()),
        ("[a-z]+", Needs()),
    ],
)
def test_what_a_pattern_needs(pattern: str, needs: Needs) -> None:
    assert needs_of(pattern) == needs


def test_nearly_every_place_needs_something() -> None:
    without = [place.pattern for place in PLACES if needs_of(place.pattern) == Needs()]
    assert len(without) <= 5


@cache
def _texts() -> list[str]:
    corpora = (templates, held_out, third)
    return [sample.text for corpus in corpora for sample in samples(corpus.SECRETS, 1)]


@cache
def _patterns() -> list[tuple[re.Pattern[str], Needs]]:
    flags = re.MULTILINE | re.ASCII
    return [(re.compile(each.pattern, flags), needs_of(each.pattern)) for each in PLACES]


def _missed(text: str) -> list[str]:
    lower = lowered(text)
    return [
        pattern.pattern
        for pattern, needs in _patterns()
        if not needs.are_met(text, lower) and pattern.search(text)
    ]


def test_no_known_secret_is_missed() -> None:
    found = sum(bool(pattern.search(text)) for text in _texts() for pattern, _ in _patterns())
    assert found > 100
    assert [each for text in _texts() for each in _missed(text)] == []


@settings(max_examples=60)
@given(st.data())
def test_no_changed_secret_is_missed(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(_texts()))
    at = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from([" ", "=", '\\"', "\u212a", "\u017f", "\n", ": ", "İ"]))
    changed = text[:at] + piece + data.draw(st.sampled_from([text[at:], text[at:].upper()]))
    assert _missed(changed) == []
