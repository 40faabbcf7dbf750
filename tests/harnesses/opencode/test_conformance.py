"""opencode follows the rules for every harness, over the recordings that come with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.harnesses.opencode import OPENCODE
from dragoman.testing.conformance import Check, checks

_DATA = Path(__file__).parents[2] / "data" / "opencode"


@pytest.mark.parametrize("check", checks(OPENCODE, _DATA, mutations=60), ids=str)
def test_conformance(check: Check) -> None:
    check()
