"""Qwen Code follows the rules for every harness, over the recordings that come with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.qwen import QWEN
from dragoman.testing.conformance import Check, checks

_DATA = Path(__file__).parents[2] / "data" / "qwen"
_RECORDINGS = [_DATA / "0.24.4", *sorted(_DATA.glob("qwen-*/*/wire.jsonl"))]


@pytest.mark.parametrize("check", checks(QWEN, _RECORDINGS, mutations=60), ids=str)
def test_conformance(check: Check) -> None:
    check()
