from __future__ import annotations

import base64

import pytest

from dragoman.drive.approvals.path_globs import ANY
from dragoman.drive.approvals.shell.expanding import brace_expanded, decoded, printed, unescaped


@pytest.mark.parametrize(
    ("text", "plain"),
    [("\\x72m", "rm"), ("\\162\\155", "rm"), ("\\u0072m", "rm"), ("a\\nb", "a\nb"), ("\\\\", "\\")],
)
def test_escapes_are_resolved(text: str, plain: str) -> None:
    assert unescaped(text) == plain


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("a", ["a"]),
        ("{a,b}", ["a", "b"]),
        ("x{a,b}y", ["xay", "xby"]),
        ("{a,{b,c}}", ["a", "b", "c"]),
        ("{a}", ["{a}"]),
        ("{1..3}", [ANY]),
    ],
)
def test_braces_are_expanded(word: str, words: list[str]) -> None:
    found = brace_expanded([(char, False) for char in word])

    assert ["".join(char for char, _ in each) for each in found] == words


def test_quoted_braces_are_letters_and_too_many_are_unknown() -> None:
    assert len(brace_expanded([(char, True) for char in "{a,b}"])) == 1
    many = brace_expanded([(char, False) for char in "{a,b}" * 20])
    assert len(many) < 200
    assert any((ANY, False) in each for each in many)


def test_what_echo_and_printf_write_is_known_as_far_as_it_is_plain() -> None:
    assert printed(("echo", "-n", "rm", "x")) == ["rm x"]
    assert "rm x" in printed(("echo", "-e", "\\x72m x"))
    assert "rm x" in printed(("printf", "%s%s x", "r", "m"))
    assert ANY in printed(("printf", "%s", "x"))
    assert printed(("printf",)) == []


def test_an_encoded_script_is_decoded() -> None:
    assert decoded(base64.b64encode("rm x".encode("utf-16-le")).decode()) == "rm x"
    assert decoded("no base64!") is None
