"""The toy agent in tests: installed for this process."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from support.toy.installing import Toy, installed


@pytest.fixture
def toy(tmp_path: Path) -> Generator[Toy]:
    with installed(tmp_path) as toy:
        yield toy
