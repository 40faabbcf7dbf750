from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.rehearsal.program import find_codex


def test_the_program_on_the_path_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_codex() == str(program)


def test_without_the_program_and_its_package_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "codex_cli_bin", None)

    assert find_codex() is None
