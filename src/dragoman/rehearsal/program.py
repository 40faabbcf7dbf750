"""Where the real agent is: on the PATH, or bundled in the package that brings it."""

from __future__ import annotations

import importlib
import shutil


def find_codex() -> str | None:
    """The ``codex`` program, or None if it is not installed."""
    found = shutil.which("codex")
    if found is not None:
        return found
    try:
        bundle = importlib.import_module("codex_cli_bin")
    except ImportError:
        return None
    return str(bundle.bundled_codex_path())
