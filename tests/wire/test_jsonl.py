from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.model.messages import Malformed, Unknown, decode, encode
from dragoman.wire import jsonl
from dragoman.wire.jsonl import NotJson, diagnose, is_blank, loads, malformed, mend, unknown
from dragoman.wire.lines import LongLine

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

nearly_json = st.lists(
    st.sampled_from([*'{}[]":,\\ \n\t', "1e999", "-", "null", "tru", "\\ud83d", "\\ude00", "\0"]),
    max_size=20,
).map("".join)
lines = st.binary() | nearly_json.map(str.encode) | nearly_json.map(lambda s: f'{{"a":{s}'.encode())


# Blank lines and text.


@pytest.mark.parametrize("line", [b"", b" ", b"\r", b" \t\r\n "])
def test_white_space_is_a_blank_line(line: bytes) -> None:
    assert is_blank(line)


@pytest.mark.parametrize("line", [b"{}", b" x ", b"\0", b"\v", "\u00a0".encode()])
def test_anything_else_is_not_blank(line: bytes) -> None:
    assert not is_blank(line)


def test_bytes_that_are_not_utf_8_are_spelled_out() -> None:
    assert jsonl.text_of("é\r".encode() + b"\xff\xed\xa0\x80") == "é\r\\xff\\xed\\xa0\\x80"


@given(st.binary())
def test_the_text_of_any_line_can_be_encoded_again(line: bytes) -> None:
    jsonl.text_of(line).encode("utf-8")


# Reading.


def test_a_line_of_json_is_loaded() -> None:
    assert loads(b' {"a":[1,null,"\xc3\xa9",1.5,true]}\r') == {"a": [1, None, "é", 1.5, True]}


def test_integers_beyond_64_bits_are_loaded() -> None:
    assert loads(b'{"a":123456789012345678901234567890}') == {"a": 123456789012345678901234567890}


def test_integers_beyond_python_are_refused() -> None:
    with pytest.raises(NotJson, match="integer value out of range"):
        loads(b'{"a":' + b"9" * 5000 + b"}")


def test_the_refusal_carries_its_problem() -> None:
    with pytest.raises(NotJson) as caught:
        loads(b"hello")

    assert caught.value.problem == "not JSON"
    assert str(caught.value) == "not JSON"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (rb'{"a":"\ud83d"}', {"a": "\ufffd"}),
        (rb'{"a":"\uDE00 b"}', {"a": "\ufffd b"}),
        (rb'{"a":"\ud83d\ud83d\ude00"}', {"a": "\ufffd😀"}),
        (rb'{"a":"\\ud83d\ud83d"}', {"a": "\\ud83d\ufffd"}),
    ],
)
def test_half_a_surrogate_pair_is_read_as_a_replacement_character(
    line: bytes, expected: Any
) -> None:
    assert loads(line) == expected


@pytest.mark.parametrize("line", [rb'"\ud83d\ude00"', rb'"\\ud83d"', b'"\\u00e9\\n"', b"plain"])
def test_mending_leaves_a_sound_line_alone(line: bytes) -> None:
    assert mend(line) == line


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("\ud83d\ude00\\u")))
def test_whatever_a_javascript_string_holds_can_be_loaded(text: str) -> None:
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    assert len(loads(json.dumps(text).encode())) == len(whole)


# Saying why not.


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "blank line"),
        (b" \r", "blank line"),
        (b"warning: low disk", "not JSON"),
        (b"caf\xe9", "not JSON"),
        (b'"\xff"', "not JSON"),
        (b"NaN", "not JSON"),
        (b"\0\0\0\0", "NUL bytes"),
        (b'{"a":1}\0\0\0', "NUL bytes"),
        (b'{"a":"\xff"}', "invalid UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a":1,}', "broken JSON: trailing comma in object (byte 7)"),
        (b'  {"a" 1}', "broken JSON: expected ':' (byte 7)"),
        (b'{"a":"b', "broken JSON: input data was truncated"),
        (b'{"a":1}{"b":2}', "broken JSON: trailing characters (byte 8)"),
        (rb'{"a":"\ud83d",}', "broken JSON: trailing comma in object (byte 14)"),
        (b"[1e999]", "broken JSON: number out of range - at `$[0]`"),
        (b"{}", "JSON, but not what was expected here"),
        (b"42", "JSON, but not what was expected here"),
    ],
)
def test_the_diagnosis_tells_noise_from_damage(line: bytes, problem: str) -> None:
    assert diagnose(line) == problem


@given(lines)
def test_no_line_makes_reading_raise_anything_else(line: bytes) -> None:
    with suppress(NotJson):
        loads(line)

    assert diagnose(line)


# Messages.


def test_an_unknown_line_is_kept_with_all_we_know_of_it() -> None:
    message = unknown(b'{"type":"new"}', "new", session_id="s", turn_id="t", at=AT, number=7)

    assert message == Unknown(
        session_id="s", turn_id="t", at=AT, line=7, native_type="new", raw='{"type":"new"}'
    )


def test_a_malformed_line_is_kept_with_all_we_know_of_it() -> None:
    message = malformed(b"oops \xff", "gone wrong", session_id="s", turn_id="t", at=AT, number=7)

    assert message == Malformed(
        session_id="s", turn_id="t", at=AT, line=7, raw="oops \\xff", problem="gone wrong"
    )


def test_a_malformed_line_is_diagnosed_when_nobody_says_what_is_wrong() -> None:
    assert malformed(b"oops", number=1) == Malformed(line=1, raw="oops", problem="not JSON")


def test_a_long_line_is_kept_by_its_ends() -> None:
    message = malformed(LongLine(head=b'{"a', tail=b"\xa9z", length=1234), number=3)

    assert message == Malformed(
        line=3,
        raw='{"a … \\xa9z',
        problem="line of 1234 bytes is longer than the limit; kept its first 3 and last 2 bytes",
    )


@given(lines)
def test_every_line_survives_as_a_message(line: bytes) -> None:
    message = malformed(line)

    assert decode(encode(message)) == message
