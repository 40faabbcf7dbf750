"""Finds a real agent: on the PATH, or bundled in the package that brings it."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

PACKAGES = {"codex": "openai-codex-cli-bin", "claude": "claude-agent-sdk"}
"""The package that brings each agent."""


def find_program(agent: str) -> str | None:
    """The agent's program, or None if it is not installed."""
    return shutil.which(agent) or find_bundled(agent)


def find_bundled(agent: str) -> str | None:
    """The program in the package that brings it, or None if the package is not installed."""
    find = _BUNDLED.get(agent)
    return find() if find else None


def find_codex() -> str | None:
    """The ``codex`` program, or None if it is not installed."""
    return find_program("codex")


def find_claude() -> str | None:
    """The ``claude`` program, or None if it is not installed."""
    return find_program("claude")


def _bundled_codex() -> str | None:
    try:
        bundle = importlib.import_module("codex_cli_bin")
    except ImportError:
        return None
    return str(bundle.bundled_codex_path())


def _bundled_claude() -> str | None:
    """The file in the package, which is found but not imported: that takes more than a second."""
    try:
        package = importlib.util.find_spec("claude_agent_sdk")
    except ValueError:  # sys.modules holds None for it
        return None
    name = "claude.exe" if sys.platform == "win32" else "claude"
    for folder in (package and package.submodule_search_locations) or []:
        path = Path(folder) / "_bundled" / name
        if path.is_file():
            return str(path)
    return None


_BUNDLED: dict[str, Callable[[], str | None]] = {
    "codex": _bundled_codex,
    "claude": _bundled_claude,
}
