from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from dragoman.cli.program import invoked_as


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "my bin" / "dragoman"
    path.parent.mkdir()
    path.write_text("#!/bin/sh", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.chdir(tmp_path)
    return path


def test_a_program_on_the_path_needs_no_path(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert invoked_as() == "dragoman"


def test_elsewhere_it_is_called_by_the_shortest_path(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert invoked_as() == "'my bin/dragoman'"
    monkeypatch.chdir(program.parents[1].parent)
    assert shlex.split(invoked_as()) == [str(program.relative_to(program.parents[2]))]
    monkeypatch.chdir("/usr")
    assert shlex.split(invoked_as()) == [str(program)]


def test_a_test_runner_or_a_module_is_called_through_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert invoked_as() == f"{shlex.quote(sys.executable)} -m dragoman.cli.main"
