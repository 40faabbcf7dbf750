from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from dragoman.client.drift import Drifted, find_drift
from dragoman.errors import AgentError, UsageError


def run(command: str | None = None, *, harness: str | None = None) -> Drifted:
    return asyncio.run(find_drift(command, harness=harness))


def program(folder: Path, script: str) -> str:
    path = folder / "codex"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_installed_program_says_nothing_that_we_do_not_know() -> None:
    found = run()
    assert found.release is not None
    assert found.drift.names > 1000
    assert (found.drift.new, found.drift.unknown) == ([], [])


def test_a_program_without_a_schema_says_so(tmp_path: Path) -> None:
    codex = program(
        tmp_path, '[ "$1" = --version ] && echo codex-cli 0.21.0 && exit; echo error: no >&2'
    )
    with pytest.raises(AgentError, match=r"\(0\.21\.0\) does not print its schema: .*'error: no'"):
        run(codex)


def test_a_schema_that_is_none_is_an_error(tmp_path: Path) -> None:
    script = 'echo "{}" > "$4/codex_app_server_protocol.schemas.json"'
    with pytest.raises(AgentError, match="cannot be read: it names no notifications"):
        run(program(tmp_path, script))


def test_a_harness_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no harness nobody prints its schema"):
        run(harness="nobody")
