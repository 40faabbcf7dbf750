from __future__ import annotations

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.parsing import StreamParser, native_type
from dragoman.harnesses.contract.reading import Ending
from dragoman.model.messages import Malformed, Text, Unknown
from dragoman.wire.lines import LongLine


class Known(msgspec.Struct):
    text: str


class TinyParser(StreamParser):
    """Each line is a text."""

    def __init__(self) -> None:
        super().__init__(audit=True)
        self._session = SessionAssembler(self._out, "tiny", "s1")

    def _read(self, line: bytes) -> None:
        self._session.text("tiny", msgspec.json.decode(line, type=Known).text)

    def _finish(self, ending: Ending) -> None:
        self._session.leave()

    def _speaker(self) -> SessionAssembler:
        return self._session


def test_a_line_that_fits_no_shape_is_kept() -> None:
    parser = TinyParser()
    parser.receive_lines([b'{"text":"a"}', b'{"type":"new"}', b"oops", b"", b'{"text":"\\ud800"}'])

    texts = [each.text for each in parser.messages() if isinstance(each, Text)]
    assert texts == ["a", "\ufffd"]
    assert [each.line for each in parser.duplicates()] == [4]


def test_an_odd_line_is_unknown_and_a_broken_one_malformed() -> None:
    parser = TinyParser()
    parser.receive_line(b'{"type":"new"}')
    parser.receive_line(b"oops")
    parser.receive_long_line(LongLine(head=b"{", tail=b"}", length=99))

    first, second, third = parser.messages()
    assert isinstance(first, Unknown)
    assert (first.native_type, first.line) == ("new", 1)
    assert isinstance(second, Malformed)
    assert isinstance(third, Malformed)
    assert "99 bytes" in third.problem


def test_a_value_has_the_best_name_that_it_gives_itself() -> None:
    values: list[object] = [{"type": "a"}, {"method": "b"}, {"c": 1}, [], 3]

    assert [native_type(value) for value in values] == ["a", "b", "object", "list", "int"]
