"""Recorded streams with the messages they make, which a person has read: the same check for every harness."""

from __future__ import annotations

from pathlib import Path

import dragoman
from dragoman.harnesses.contract.harness import Harness

DATA = Path(__file__).parents[1] / "data"


def cases(harness: Harness) -> list[Path]:
    """The folders ``tests/data/HARNESS/DIALECT/SCENARIO`` with a stream in them."""
    found = (DATA / harness.name).glob("*/*/wire.jsonl")
    return sorted(path.parent for path in found if path.parts[-3] != "runs")


def name_of(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def check_messages(case: Path, *, update: bool) -> None:
    """The stream makes the messages beside it; with ``update``, they are written first."""
    made = [dragoman.encode(message).decode() for message in dragoman.read(case / "wire.jsonl")]
    golden = case / "messages.jsonl"
    if update:
        golden.write_text("".join(f"{line}\n" for line in made))
    assert made == golden.read_text().split("\n")[:-1]


def check_dialect(case: Path) -> None:
    """The dialect is detected, and each line is accounted for with each of its values."""
    account = dragoman.audit(case / "wire.jsonl")
    assert account.dialect == case.parent.name
    assert account.unaccounted == []
    assert account.lost == []
    assert account.unread == []


def check_coverage(harness: Harness, found: list[Path]) -> None:
    """Each dialect has a case, and each case says what it is."""
    assert {case.parent.name for case in found} == {dialect.name for dialect in harness.dialects}
    for case in found:
        assert (case / "about.md").read_text().strip(), case
