"""An environment for the whole test run in which no file of the developer's own home is read or written.

The fixture :func:`isolated_home` is applied to every test: HOME is a temporary folder, and no
variable leads an agent to an account, a model or a home of the developer. Login shells of the agents' commands
start without the developer's profile, too. Tests that download something need the developer's settings for npm or
pip, and want to keep the result: they use :data:`DEVELOPER` and :func:`kept_between_runs`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

DEVELOPER = dict(os.environ)
"""The environment in which the tests were started."""

_REMOVED = ("ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_", "DRAGOMAN_", "OTEL_", "XDG_")
"""The variables of agents start so, and those that would name folders outside of HOME."""


@pytest.fixture(scope="session", autouse=True)
def isolated_home() -> Iterator[Path]:
    """The home directory of all tests. It starts empty, apart from what Git needs to commit."""
    # A short path: sockets are created below it.
    folder = Path(tempfile.mkdtemp(prefix="dragoman-tests-"))
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(_REMOVED)]:
            patch.delenv(name)
        home, temporary = folder / "home", folder / "tmp"
        home.mkdir()
        temporary.mkdir()
        patch.setenv("HOME", str(home))
        patch.setenv("USERPROFILE", str(home))
        # Claude Code keeps its sockets and the output of background tasks here.
        patch.setenv("CLAUDE_CODE_TMPDIR", str(temporary))
        # The agents that tests start must contact nothing but loopback.
        patch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        (home / ".gitconfig").write_text("[user]\n\tname = Test\n\temail = test@example.invalid\n")
        yield home
    shutil.rmtree(folder, ignore_errors=True)


def kept_between_runs() -> Path:
    """A folder for downloads, in the developer's cache."""
    cache = DEVELOPER.get("XDG_CACHE_HOME") or Path(DEVELOPER.get("HOME", "~")) / ".cache"
    return Path(cache).expanduser() / "dragoman-tests"
