from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.rehearsal.program import find_claude, find_codex, find_program


def test_the_program_on_the_path_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_codex() == find_program("codex") == str(program)


def test_without_the_program_and_its_package_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "codex_cli_bin", None)

    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)

    assert find_codex() is None
    assert find_claude() is None


def test_the_bundled_program_is_found_without_importing_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "claude_agent_sdk" / "_bundled" / "claude"
    program.parent.mkdir(parents=True)
    program.touch()
    (tmp_path / "claude_agent_sdk" / "__init__.py").write_text(
        "raise ImportError", encoding="utf-8"
    )
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "claude_agent_sdk", raising=False)

    assert find_claude() == str(program)
    assert "claude_agent_sdk" not in sys.modules
