"""Any ACP agent follows the rules for every harness, over recordings of five agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.any_acp import ANY_ACP
from dragoman.testing.conformance import Check, checks

_DATA = Path(__file__).parents[2] / "data" / "acp"
_CHECKS = checks(ANY_ACP, sorted(_DATA.glob("acp/*/wire.jsonl")), mutations=60)


@pytest.mark.parametrize("check", _CHECKS, ids=str)
def test_conformance(check: Check) -> None:
    check()
