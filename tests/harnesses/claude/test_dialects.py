from __future__ import annotations

from dragoman.harnesses.claude import sniff
from dragoman.harnesses.claude.dialects import DIALECTS, values
from dragoman.harnesses.claude.stream.parser import StreamJsonParser
from dragoman.harnesses.claude.transcript.parser import TranscriptParser


def test_each_dialect_has_its_parser() -> None:
    kinds = {each.name: type(each.make_parser(only=None, audit=False)) for each in DIALECTS}
    assert kinds == {sniff.STREAM: StreamJsonParser, sniff.TRANSCRIPT: TranscriptParser}


def test_the_values_of_a_line_are_those_of_the_audit() -> None:
    line = b'{"type":"result","result":"done","session_id":"s"}'
    assert "done" in [each.value for each in values(line, "")]
