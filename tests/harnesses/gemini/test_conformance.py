"""Gemini CLI follows the rules for every harness, over the recordings that come with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.gemini import GEMINI
from dragoman.testing.conformance import Check, checks

_DATA = Path(__file__).parents[2] / "data" / "gemini"
_CHECKS = checks(GEMINI, [_DATA / "runs", *sorted(_DATA.glob("gemini-*/*/wire.jsonl"))])


@pytest.mark.parametrize("check", _CHECKS, ids=str)
def test_conformance(check: Check) -> None:
    check()
