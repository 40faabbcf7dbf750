"""Every case in tests/data/qwen: a recorded stream, and the messages it makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.qwen import QWEN
from support.golden import cases, check_coverage, check_dialect, check_messages, name_of

_CASES = cases(QWEN)


@pytest.mark.parametrize("case", _CASES, ids=name_of)
def test_the_stream_makes_these_messages(case: Path, request: pytest.FixtureRequest) -> None:
    check_messages(case, update=bool(request.config.getoption("--update-golden")))


@pytest.mark.parametrize("case", _CASES, ids=name_of)
def test_the_dialect_is_detected_and_no_line_is_lost(case: Path) -> None:
    check_dialect(case)


def test_each_dialect_has_a_case_and_each_case_says_what_it_is() -> None:
    check_coverage(QWEN, _CASES)
