"""Codex follows the rules for every harness, over the recordings that come with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.codex import CODEX
from dragoman.testing.conformance import Check, checks

_DATA = Path(__file__).parents[2] / "data" / "codex"
_CHECKS = checks(CODEX, [_DATA / "runs", *sorted(_DATA.glob("codex-*/*/wire.jsonl"))])


@pytest.mark.parametrize("check", _CHECKS, ids=str)
def test_conformance(check: Check) -> None:
    check()
