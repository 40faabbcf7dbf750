"""A pytest plugin with rehearsals and fake agents as fixtures.

It is loaded into every pytest run where Dragoman is installed, so it imports nothing but pytest
until a test uses a fixture.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from dragoman.rehearsal import Faults, Rehearsal, Script


class StartRehearsal(Protocol):
    """Starts a rehearsal that ends with the test, and sets the environment of this process for it."""

    def __call__(self, script: Script | str | os.PathLike[str], **options: Any) -> Rehearsal:
        """Start it. ``options`` are those of :class:`dragoman.rehearsal.Rehearsal`."""
        ...


class MakeFakeCodex(Protocol):
    """Puts a program that repeats a recording first on the PATH, and returns its path."""

    def __call__(
        self,
        recording: str | os.PathLike[str],
        *,
        app_server: str | os.PathLike[str] | None = None,
        faults: Faults | None = None,
        version: str | None = None,
    ) -> Path:
        """See :func:`dragoman.rehearsal.write_fake_codex`."""
        ...


@pytest.fixture
def rehearsal(monkeypatch: pytest.MonkeyPatch) -> Iterator[StartRehearsal]:
    """``stage = rehearsal("- say: Hello.")``: a stand-in model that plays a script."""
    from dragoman.rehearsal import Rehearsal

    with ExitStack() as stages:

        def start(script: Script | str | os.PathLike[str], **options: Any) -> Rehearsal:
            stage = stages.enter_context(Rehearsal(script, **options))
            for name, value in stage.env.items():
                monkeypatch.setenv(name, value)
            return stage

        yield start


@pytest.fixture
def codex_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory for the agent, so that a test never uses the developer's own."""
    home = tmp_path / "agent-home"
    home.mkdir()
    monkeypatch.setenv("CODEX_HOME", str(home))
    return home


@pytest.fixture
def fake_codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeFakeCodex:
    """``fake_codex("run.jsonl", faults=Faults(crash=3))``: a program that repeats a recording."""
    from dragoman.rehearsal import write_fake_codex

    numbers = itertools.count(1)

    def make(recording: str | os.PathLike[str], **options: Any) -> Path:
        program = write_fake_codex(tmp_path / f"fake-{next(numbers)}", recording, **options)
        monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
        return program

    return make


@pytest.fixture(scope="session")
def codex_program() -> str:
    """The real program; the test is skipped if it is not installed."""
    from dragoman.rehearsal.program import find_codex

    return _installed(find_codex())


@pytest.fixture(scope="session")
def claude_program() -> str:
    """The other real program, likewise."""
    from dragoman.rehearsal.program import find_claude

    return _installed(find_claude())


def _installed(found: str | None) -> str:
    if found is None:
        pytest.skip("the agent's program is not installed")
    return found
