"""Rehearsals: the real agent, a stand-in model on loopback, and a script of what it says.

No key, no network, no cost, and faults on demand. See docs/rehearsal.md. Each name is imported when
it is first used, so that a test suite which rehearses nothing pays nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.rehearsal.fakes import Faults, write_fake_codex
    from dragoman.rehearsal.reading import BadScript, parse_script, read_script
    from dragoman.rehearsal.script import Script, Turn
    from dragoman.rehearsal.stage import Rehearsal, RehearsalFailed

_HOMES = {
    "fakes": ("Faults", "write_fake_codex"),
    "reading": ("BadScript", "parse_script", "read_script"),
    "script": ("Script", "Turn"),
    "stage": ("Rehearsal", "RehearsalFailed"),
}

__all__ = [
    "BadScript",
    "Faults",
    "Rehearsal",
    "RehearsalFailed",
    "Script",
    "Turn",
    "parse_script",
    "read_script",
    "write_fake_codex",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
