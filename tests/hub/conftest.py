"""A hub in the tests of the hub: on a server that lives in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.agents.hubs import Pretence


@pytest.fixture
def pretence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pretence:
    return Pretence(tmp_path, monkeypatch)
