from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from dragoman.client.examining import examine
from dragoman.errors import UsageError


def program(folder: Path, script: str) -> str:
    path = folder / "agent"
    path.write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_program_that_is_not_there_leaves_one_problem(tmp_path: Path) -> None:
    found = asyncio.run(examine(str(tmp_path / "nothing"), env={"CODEX_HOME": str(tmp_path)}))

    assert list(found.problems) == ["program"]
    assert found.program is None
    assert found.home == tmp_path


def test_a_program_that_says_nothing_is_found_and_does_not_answer(tmp_path: Path) -> None:
    path = program(tmp_path, "import sys; print('agent 0.166.0') if len(sys.argv) == 2 else 0\n")

    found = asyncio.run(examine(path))

    assert found.program == path
    assert found.found == "as it was named"
    assert found.release is None or found.release == "0.166.0"
    assert found.facts is None
    assert "greeting" in found.problems


def test_an_unknown_harness_is_a_wrong_request() -> None:
    with pytest.raises(UsageError, match="no harness 'parrot'"):
        asyncio.run(examine(harness="parrot"))


def test_a_release_that_cannot_be_greeted_is_signed_in_as_its_files_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CODEX_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    path = program(tmp_path, "print('codex-cli 0.50.0')\n")
    home = tmp_path / "home"
    home.mkdir()

    found = asyncio.run(examine(path, env={"CODEX_HOME": str(home)}))
    assert "server" in found.problems
    assert found.facts is not None
    assert found.facts.needs_sign_in

    (home / "auth.json").write_text('{"OPENAI_API_KEY": "sk-test"}', encoding="utf-8")
    found = asyncio.run(examine(path, env={"CODEX_HOME": str(home)}))
    assert found.facts is not None
    assert found.facts.signed_in
