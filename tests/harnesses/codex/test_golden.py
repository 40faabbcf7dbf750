"""Every case in tests/data: a real stream, and the messages it makes, read by a person before."""

from __future__ import annotations

from pathlib import Path

import pytest

import dragoman
from dragoman.harnesses.codex import CODEX

_DATA = Path(__file__).parents[2] / "data" / "codex"
_CASES = sorted(path.parent for path in _DATA.glob("*/*/wire.jsonl") if path.parts[-3] != "runs")


def _name(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


@pytest.mark.parametrize("case", _CASES, ids=_name)
def test_the_stream_makes_these_messages(case: Path, request: pytest.FixtureRequest) -> None:
    told = [dragoman.encode(message).decode() for message in dragoman.read(case / "wire.jsonl")]
    golden = case / "messages.jsonl"
    if request.config.getoption("--update-golden"):
        golden.write_text("".join(f"{line}\n" for line in told))
    assert told == golden.read_text().split("\n")[:-1]


@pytest.mark.parametrize("case", _CASES, ids=_name)
def test_the_dialect_is_found_out_and_no_line_is_lost(case: Path) -> None:
    account = dragoman.audit(case / "wire.jsonl")
    assert account.dialect == case.parent.name
    assert account.unaccounted == []


def test_each_dialect_has_a_case_and_each_case_says_what_it_is() -> None:
    assert {case.parent.name for case in _CASES} == {dialect.name for dialect in CODEX.dialects}
    for case in _CASES:
        assert (case / "about.md").read_text().strip(), case
