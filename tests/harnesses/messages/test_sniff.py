from __future__ import annotations

import pytest

from dragoman.harnesses.messages.sniff import bare_line, sniff

LINE = b'{"type":"text","session_id":"s","turn_id":null,"at":null,"line":3,"text":"hi"}'


@pytest.mark.parametrize("lines", [[LINE], [b"[\n", LINE + b",\n"], [b"{", LINE]])
def test_a_message_of_ours_is_recognized(lines: list[bytes]) -> None:
    assert sniff(lines) == "messages"


def test_a_line_of_an_agent_is_not() -> None:
    assert sniff([b'{"type":"text","text":"hi"}', LINE.replace(b'"text"', b'"words"', 1)]) is None


def test_the_comma_between_elements_is_no_part_of_a_line() -> None:
    assert bare_line(b' {"a":1},\n') == b'{"a":1}'
    assert bare_line(b"[\n") == b"["
