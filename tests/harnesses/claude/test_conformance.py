"""Claude Code follows the rules for every harness, over the recordings that come with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.claude import CLAUDE
from dragoman.testing.conformance import Check, checks

_DATA = Path(__file__).parents[2] / "data" / "claude"
_CHECKS = checks(CLAUDE, [_DATA / "runs", *sorted(_DATA.glob("claude-*/*/wire.jsonl"))])


@pytest.mark.parametrize("check", _CHECKS, ids=str)
def test_conformance(check: Check) -> None:
    check()
