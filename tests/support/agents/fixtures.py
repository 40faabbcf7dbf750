"""The real programs, Codex and Claude Code, set up for the stand-in model.

For Codex: the fixture ``codex`` is the program, ``stage`` starts a rehearsal with it. For Claude: the fixture
``claude_program`` is the program that the development install bundles, and ``claude_env`` makes an environment::

    def test_something(claude_program: str, claude_env: ClaudeEnv) -> None:
        rehearsal, env = claude_env("- say: Hello.")
        done = subprocess.run([claude_program, "-p", "hi"], env=env, stdin=subprocess.DEVNULL, ...)
        assert done.stdout == "Hello.\n" and len(rehearsal.requests) == 1

``env`` is complete and the same for every developer: HOME, CLAUDE_CONFIG_DIR and TMPDIR are inside the rehearsal's
temporary folder, the model is the stand-in one, nothing but loopback is contacted. Outside of a test, use
:func:`bundled_claude` and :func:`claude_environment`. Every program started with such an environment must be gone
when the test ends: ``claude_env`` fails the test otherwise.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest
from codex_cli_bin import bundled_codex_path

from dragoman.rehearsal import Rehearsal
from dragoman.rehearsal.program import find_bundled
from support.agents.onlookers import marked, wait_until
from support.agents.stages import Stage

_SECONDS = 20.0
"""How long a process may take to disappear after it was ended."""
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")


class ClaudeEnv(Protocol):
    """Starts a rehearsal for Claude, and makes the environment of the program."""

    def __call__(self, script: str, **options: Any) -> tuple[Rehearsal, dict[str, str]]: ...


@pytest.fixture(scope="session")
def codex() -> str:
    """The real program, as the development install brings it."""
    return str(bundled_codex_path())


@pytest.fixture(scope="session")
def claude_program() -> str:
    """The path of the real Claude Code, as the development install brings it."""
    return bundled_claude()


@pytest.fixture
def claude_env() -> Iterator[ClaudeEnv]:
    """``rehearsal, env = claude_env("- say: Hello.")``: the stand-in model plays a script for Claude."""
    homes: list[Path] = []
    with ExitStack() as stages:

        def start(script: str, **options: Any) -> tuple[Rehearsal, dict[str, str]]:
            rehearsal = stages.enter_context(Rehearsal(script, agent="claude", **options))
            homes.append(rehearsal.claude_home)
            return rehearsal, claude_environment(rehearsal)

        yield start
        for home in homes:
            wait_until(lambda home=home: not marked(str(home)), _SECONDS)


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


def bundled_claude() -> str:
    """The path of the real Claude Code, as the development install brings it."""
    program = find_bundled("claude")
    assert program is not None, "claude-agent-sdk is not installed: run `make .venv/ready`"
    return program


def claude_environment(rehearsal: Rehearsal) -> dict[str, str]:
    """The whole environment of a real Claude that plays in this rehearsal."""
    assert rehearsal.agents == ("claude",), "HOME is isolated in a rehearsal for Claude alone"
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, **rehearsal.env}
