from __future__ import annotations

import pytest

from dragoman.harnesses.contract.reading import Mark
from dragoman.model.messages import Unknown
from dragoman.reading.parsers import FileReader, history_of
from support.archive.saved_sessions import simple


def test_the_dialect_is_found_by_the_first_lines() -> None:
    lines = simple(1).split(b"\n")
    reader = FileReader.sniffed(lines)

    assert reader.dialect == "codex-rollout"
    assert reader.harness == "codex"


def test_what_is_no_dialect_is_kept_as_it_is() -> None:
    assert FileReader.sniffed([b'{"x": 1}'] * 100).dialect is None
    assert history_of(None) is None

    reader = FileReader.unknown()
    reader.parser.receive_line(b'{"x": 1}')
    reader.parser.receive_eof()
    assert isinstance(reader.messages()[0], Unknown)
    assert reader.marks() == []


def test_a_parser_can_be_taken_up_at_a_mark() -> None:
    lines = simple(1, ["one", "two"]).split(b"\n")[:-1]
    whole = FileReader.sniffed(lines)
    whole.parser.receive_lines(lines)
    messages, mark = whole.messages(), whole.marks()[-1]

    resumed = FileReader.resumed("codex-rollout", mark)
    resumed.parser.receive_lines(lines[mark.line - 1 :])

    later = resumed.messages()
    assert later == messages[-len(later) :]
    assert len(later) > 3


@pytest.mark.parametrize("dialect", [None, "nonsense", "codex-exec"])
def test_a_dialect_without_marks_cannot_be_taken_up(dialect: str | None) -> None:
    with pytest.raises(TypeError):
        FileReader.resumed(dialect, Mark(1, b""))
