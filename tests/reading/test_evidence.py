from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.contract.reading import Value
from dragoman.model.messages import Delta, Text, ToolResult
from dragoman.reading.evidence import Evidence, missing_values


@pytest.fixture
def evidence() -> Evidence:
    evidence = Evidence()
    evidence.add(Text(text="One  more\nthing, in_progress"))
    evidence.add(Delta(of="text", text="Hel"))
    evidence.add(Delta(of="text", text="lo there"))
    evidence.add(ToolResult(call_id="c", exit_code=7, output="ok"))
    return evidence


@pytest.mark.parametrize(
    "part", ["more\nthing", "One more thing", "Hello there", "Hel", 7, "ok", "O K", "", None, True]
)
def test_what_was_told_is_found_in_whatever_form(evidence: Evidence, part: Any) -> None:
    assert evidence.holds(Value("x", part, [[part]]))


@pytest.mark.parametrize("part", ["missing", 8, "ne", "hello again", {"a": 1}])
def test_what_was_not_told_is_not_found(evidence: Evidence, part: Any) -> None:
    assert not evidence.holds(Value("x", part, [[part]]))


def test_one_form_is_enough_and_all_its_parts_are_needed(evidence: Evidence) -> None:
    assert evidence.holds(Value("x", 1, [["missing"], ["One  more", 7]]))
    assert not evidence.holds(Value("x", 1, [["One  more", 8]]))
    lost = Value("y", 1, [["missing"]])
    assert missing_values([lost, Value("z", 7, [[7]])], evidence) == [lost]
