"""What all parsers do with lines that are no lines of their dialect."""

from __future__ import annotations

import pytest

from dragoman.harnesses import find_dialect
from dragoman.harnesses.codex import CODEX
from dragoman.harnesses.contract.reading import Parser
from dragoman.model.messages import Malformed, Unknown
from dragoman.wire.lines import LongLine


def _parser(name: str) -> Parser:
    dialect = find_dialect(name)
    assert dialect is not None
    return dialect.make_parser(only=None, audit=True)


_DIALECTS = [dialect.name for dialect in CODEX.dialects]


@pytest.mark.parametrize("name", _DIALECTS)
def test_blank_lines_are_twins_and_odd_ones_are_kept_under_their_number(name: str) -> None:
    parser = _parser(name)
    lines = [
        b"\n",
        b"plain words\n",
        b'{"an":"object"}\n',
        b"[1, 2]\n",
        b"7\n",
        b'"str"\n',
        b"null\n",
    ]
    for line in lines:
        parser.receive_line(line)
    parser.receive_eof()
    kept = {message.line: message for message in parser.messages()}
    assert isinstance(kept[2], Malformed)
    assert {number for number, message in kept.items() if isinstance(message, Unknown)} == {
        3, 4, 5, 6, 7,
    }  # fmt: skip
    assert [duplicate.line for duplicate in parser.duplicates()] == [1]


@pytest.mark.parametrize("name", _DIALECTS)
def test_a_line_that_is_too_long_is_kept_by_its_ends(name: str) -> None:
    parser = _parser(name)
    parser.receive_long_line(LongLine(head=b'{"type":"', tail=b'"}', length=5_000))
    parser.receive_line(b"{}\n")
    first, second = parser.messages()
    assert isinstance(first, Malformed)
    assert "5000" in first.problem.replace(",", "").replace("_", "")
    assert first.raw.startswith('{"type":"')
    assert first.raw.endswith('"}')
    assert (first.line, second.line) == (1, 2)


@pytest.mark.parametrize("name", _DIALECTS)
def test_messages_and_twins_are_handed_out_once(name: str) -> None:
    parser = _parser(name)
    parser.receive_line(b'{"an":"object"}\n')
    parser.receive_line(b"\n")
    assert len(parser.messages()) == 1
    assert parser.messages() == []
    assert len(parser.duplicates()) == 1
    assert parser.duplicates() == []
