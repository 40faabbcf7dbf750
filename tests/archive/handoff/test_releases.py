from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from dragoman.archive.handoff.releases import installed_release
from dragoman.harnesses import harness
from dragoman.harnesses.contract.program import Program


def _program(path: str) -> Program:
    program = harness("codex").program
    assert program is not None
    return msgspec.structs.replace(program, command=path, bundled=None)


def _script(folder: Path, said: str) -> str:
    path = folder / "codex"
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)
    return str(path)


def test_a_program_is_asked(tmp_path: Path) -> None:
    program = _program(_script(tmp_path, "codex-cli 0.77.0"))
    assert installed_release(program) == (0, 77, 0)


def test_a_program_is_asked_within_an_event_loop_as_well(tmp_path: Path) -> None:
    program = _program(_script(tmp_path, "codex-cli 0.77.0"))

    async def ask() -> object:
        return installed_release(program)

    assert asyncio.run(ask()) == (0, 77, 0)


@pytest.mark.parametrize("said", ["", "hello"])
def test_a_program_that_does_not_say(said: str, tmp_path: Path) -> None:
    assert installed_release(_program(_script(tmp_path, said))) is None


def test_a_program_that_is_not_here(tmp_path: Path) -> None:
    assert installed_release(_program(str(tmp_path / "none"))) is None
