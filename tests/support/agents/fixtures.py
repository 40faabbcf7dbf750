from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from codex_cli_bin import bundled_codex_path

from dragoman.rehearsal import Rehearsal
from support.agents.stages import Stage


@pytest.fixture(scope="session")
def codex() -> str:
    """The real program, as the development install brings it."""
    return str(bundled_codex_path())


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A workspace: a git repository with one file."""
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "README.md").write_text("hello\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=30)
    return folder


@pytest.fixture
def stage(codex: str) -> Iterator[Callable[..., Stage]]:
    """``stage("- say: Hello.")``: the stand-in model plays a script, for the real program."""
    with ExitStack() as stages:

        def start(script: str, **options: Any) -> Stage:
            return Stage(stages.enter_context(Rehearsal(script, **options)), codex)

        yield start
