from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from dragoman.client.drift import find_drift
from dragoman.client.environment import agent_environ, expanded_home
from dragoman.harnesses import HARNESSES


@pytest.fixture(autouse=True)
def quoted_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", "~/alt")
    return tmp_path / "alt"


def test_a_quoted_home_is_expanded_for_the_agent(quoted_home: Path) -> None:
    assert Path(agent_environ()["CODEX_HOME"]) == quoted_home
    assert os.environ["CODEX_HOME"] == "~/alt"


def test_any_other_home_is_left_as_it_is() -> None:
    assert expanded_home(HARNESSES[0], {"CODEX_HOME": "/x/~"}) == {}
    assert expanded_home(HARNESSES[0], {}) == {}


def test_the_schema_is_asked_for_in_that_home(codex_program: str) -> None:
    assert asyncio.run(find_drift(codex_program)).release is not None
