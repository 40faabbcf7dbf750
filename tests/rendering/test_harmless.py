from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.rendering.harmless import flat, harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m\x7f", "\\x9b31m␡"),
        ("a\r\nb\rc\td\n", "a\nb␍c\td\n"),
        ("if \u202e admin \u2066", "if \\u202e admin \\u2066"),
        ("שלום\u200f é 👩‍🚀", "שלום\u200f é 👩‍🚀"),
    ],
    ids=["colour", "title", "C1", "line ends", "bidi", "ordinary"],
)
def test_what_a_terminal_would_obey_is_shown(text: str, shown: str) -> None:
    assert harmless(text) == shown


@given(st.text())
def test_no_text_stays_harmful(text: str) -> None:
    shown = harmless(text)

    assert all(char in "\t\n" or ord(char) >= 0x20 for char in shown)
    assert not {*range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)} & {
        ord(char) for char in shown
    }


def test_a_name_is_on_one_line() -> None:
    assert flat("a\nb\x1b") == "a␊b␛"
