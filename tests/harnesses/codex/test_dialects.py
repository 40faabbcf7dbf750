from __future__ import annotations

import msgspec
import pytest

from dragoman.harnesses.codex import sniff
from dragoman.harnesses.codex.dialects import DIALECTS, plain_rollout, values
from dragoman.harnesses.codex.rollout.marks import MarkingRolloutParser
from dragoman.harnesses.codex.rollout.parser import RolloutParser
from dragoman.harnesses.contract.reading import Dialect, Mark


def test_every_name_that_sniffing_gives_is_a_dialect() -> None:
    names = {value for name, value in vars(sniff).items() if name.isupper() and name[0] != "_"}
    assert {each.name for each in DIALECTS} == names


@pytest.mark.parametrize("name", [sniff.ROLLOUT, sniff.ROLLOUT_FLAT])
def test_a_session_file_can_be_read_from_a_mark(name: str) -> None:
    dialect = next(each for each in DIALECTS if each.name == name)
    assert isinstance(dialect, Dialect)
    assert dialect.mark is not None
    assert dialect.resume is not None
    assert type(dialect.make_parser(only=None, audit=False)) is RolloutParser
    assert isinstance(dialect.mark(only=None, audit=False), MarkingRolloutParser)
    with pytest.raises(msgspec.MsgspecError, match="Expected"):
        dialect.resume(Mark(1, b"{"), None, False)


def test_only_a_file_that_looks_plain_gets_the_quick_reader() -> None:
    head = b'{"timestamp":"2026-11-15T22:25:25.123Z","type":"session_meta","payload":{'
    assert plain_rollout(head) is not None
    assert plain_rollout(head.replace(b"session_meta", b"turn_context")) is None
    assert plain_rollout(b"") is None


def test_the_values_of_a_line_are_those_of_the_audit() -> None:
    line = b'{"type":"error","message":"gone"}'
    assert [each.value for each in values(line, "")] == ["gone"]
