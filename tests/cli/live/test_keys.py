from __future__ import annotations

import pytest

from dragoman.cli.live.editor import Editor
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key, KeyReader


def keys(data: bytes) -> list[Key]:
    return KeyReader().feed(data)


def typed(data: bytes) -> Editor:
    editor = Editor()
    for key in keys(data):
        editor.press(key)
    return editor


def test_keys_are_named_and_text_is_text() -> None:
    assert keys("hé\x7f\x1b[D\r".encode()) == [
        Key("text", "hé"),
        Key("backspace"),
        Key("left"),
        Key("enter"),
    ]


def test_a_key_may_come_in_pieces_but_an_escape_alone_is_a_key() -> None:
    reader = KeyReader()
    pieces = [b"\xc3", b"\xa9", b"\x1b[", b"3~", b"\x1b[200~a", b"\nb\x1b[20", b"1~", b"\x1b"]

    found = [key for piece in pieces for key in reader.feed(piece)]

    assert found == [Key("text", "é"), Key("delete"), Key("text", "a\nb"), Key("escape")]


def test_what_is_pasted_is_text_with_all_its_lines() -> None:
    assert keys(b"\x1b[200~one\r\ntwo\rthree\x1b[201~!") == [
        Key("text", "one\ntwo\nthree"),
        Key("text", "!"),
    ]


def test_an_unknown_sequence_is_one_key_that_means_nothing() -> None:
    assert keys(b"\x1b[15~x") == [Key("unknown"), Key("text", "x")]


EDITS = {
    b"helo\x1b[Dl": "hello",
    b"one two\x17": "one ",
    b"one two\x15": "",
    b"abc\x01\x0b": "",
    b"abc\x01\x1b[3~": "bc",
    b"one two\x1bb\x1bbx": "xone two",
    b"one two\x01\x1bf!": "one! two",
    b"a\x1b\rb": "a\nb",
}


@pytest.mark.parametrize(("pressed", "text"), EDITS.items())
def test_the_usual_keys_edit(pressed: bytes, text: str) -> None:
    assert typed(pressed).text == text


def test_enter_gives_the_entry_and_the_arrows_bring_it_back() -> None:
    editor = typed(b"first\rsecond\rdra")

    for key, text in {b"\x1b[A": "second", b"\x1b[A\x1b[A": "first", b"\x1b[B": "second"}.items():
        for each in keys(key)[-1:]:
            editor.press(each)
        assert editor.text == text
    editor.press(Key("down"))

    assert editor.text == "dra"


def test_the_cursor_is_a_block_on_what_it_stands_on() -> None:
    editor = typed(b"abc\x1b[D\x1b[D")

    assert editor.rows(Ink(colour=True), 40) == [
        "\x1b[36;1m\u203a \x1b[0ma\x1b[7mb\x1b[0mc",
    ]
    assert typed(b"").rows(Ink(colour=False), 40) == ["\u203a ▏"]


def test_a_long_entry_takes_several_rows() -> None:
    rows = typed(b"one two three four five six").rows(Ink(colour=False), 16)

    assert [row.replace("▏", "").rstrip() for row in rows] == [
        "\u203a one two three",
        "  four five six",
    ]
