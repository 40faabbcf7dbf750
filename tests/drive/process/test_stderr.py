from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.drive.process.stderr import StderrTail
from dragoman.drive.secrets import Secrets


def told(*chunks: bytes, kept: int = 1 << 16, secrets: tuple[str, ...] = ()) -> StderrTail:
    tail = StderrTail(Secrets(secrets), kept=kept)
    for chunk in chunks:
        tail.receive(chunk)
    return tail


def test_what_was_written_is_kept_in_order() -> None:
    assert told(b"one\ntw", b"o\n").text() == "one\ntwo"
    assert told().text() == ""


def test_only_the_last_whole_lines_are_kept() -> None:
    tail = told(*(b"line %d\n" % number for number in range(1000)), kept=100)

    lines = tail.text().split("\n")
    assert lines[-1] == "line 999"
    assert lines[0].startswith("line ")
    assert len(tail.text()) <= 100
    assert tail.total == sum(len(b"line %d\n" % number) for number in range(1000))


@given(st.lists(st.binary(max_size=30)), st.integers(1, 50))
def test_no_more_is_held_than_twice_what_is_kept(chunks: list[bytes], kept: int) -> None:
    tail = StderrTail(kept=kept)
    for chunk in chunks:
        tail.receive(chunk)
        assert sum(map(len, tail._chunks)) == tail._held <= 2 * kept
    assert b"".join(tail._chunks)[-kept:] == b"".join(chunks)[-kept:]


def test_colours_titles_and_control_characters_are_taken_off() -> None:
    data = b"\x1b[1;31merror\x1b[0m: \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b(B\x07 tab\there\r\n"

    assert told(data).text() == "error: link tab\there"


def test_what_is_not_utf8_is_replaced() -> None:
    assert told(b"caf\xe9 \xe2\x82", b"\xac").text() == "caf\ufffd \u20ac"


def test_secrets_are_hidden_even_when_cut() -> None:
    assert told(b"key swordfish and sk-abcdefghijklmnop", secrets=("swordfish",)).text() == (
        "key [secret] and sk-[secret]"
    )
    whole = b"x" * 100 + b"swordfish" + b"y" * 2000
    for kept in range(1995, 2015):
        assert "fish" not in told(whole, kept=kept, secrets=("swordfish",)).text()


def test_a_secret_in_colours_is_hidden() -> None:
    assert told(b"sword\x1b[1mfish", secrets=("swordfish",)).text() == "[secret]"


def test_the_tail_is_short_and_begins_with_a_line() -> None:
    tail = told(*(b"line %d\n" % number for number in range(1000)))

    assert tail.tail(20) == "line 998\nline 999"
    assert told(b"x" * 50).tail(20) == "x" * 20
    assert told(b"short\n").tail(20) == "short"
