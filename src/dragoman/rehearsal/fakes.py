"""Putting the fake program where a test will find it: an executable called ``codex``."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TypeAlias

import msgspec

from dragoman.rehearsal import fake_codex

Line: TypeAlias = int | str
"""A place in what the program says: the number of a line from 1, or a piece of the line's text."""


class Faults(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong, and where. Line 0 is before anything was said."""

    torn: Line | None = None
    """Only half of this line comes, and the program ends."""
    crash: Line | None = None
    """The program ends after this line."""
    exit_code: int = 101
    signal: int | None = None
    """Ends by this signal instead."""
    silence: Line | None = None
    """Nothing comes after this line; the program stays."""
    repeat: Line | None = None
    """This line comes several times, as fast as can be: a duplicate, or a flood."""
    times: int = 2
    pad: Line | None = None
    """This line is made longer by ``pad_bytes``, in a field that no reader knows."""
    pad_bytes: int = 10_000_000
    garbage: Line | None = None
    """After this line, something that is not JSON."""
    garbage_text: str = "thread 'main' panicked at src/main.rs {\n"
    stderr: Line | None = None
    """After this line, chatter on the standard error."""
    stderr_text: str = "WARN something looked odd, going on\n"
    stderr_times: int = 1
    delay: float = 0.0
    """Seconds before each line."""
    ignore_term: bool = False
    """SIGTERM does nothing."""
    ignore_eof: bool = False
    """The end of the input does nothing: the program has to be killed."""


def write_fake_codex(
    folder: str | os.PathLike[str],
    recording: str | os.PathLike[str],
    *,
    app_server: str | os.PathLike[str] | None = None,
    faults: Faults | None = None,
    version: str | None = None,
) -> Path:
    """An executable ``codex`` in ``folder`` that repeats a recording; its path.

    It answers ``--version``, ``exec …`` and ``app-server`` like the release that made the recording.
    With ``app_server``, that mode repeats another recording than ``exec`` does.
    """
    path = Path(folder) / "codex"
    path.parent.mkdir(parents=True, exist_ok=True)
    program = [sys.executable, "-I", "-S", fake_codex.__file__]
    if faults is not None:
        program += ["--fake-faults", msgspec.json.encode(faults).decode()]
    if version is not None:
        program += ["--fake-version", version]

    def line(source: str | os.PathLike[str]) -> str:
        return (
            f'exec {shlex.join([*program, "--fake-recording", str(Path(source).absolute())])} "$@"'
        )

    script = ["#!/bin/sh"]
    if app_server is not None:
        script += [f'case " $* " in *" app-server "*) {line(app_server)} ;; esac']
    path.write_text("\n".join([*script, line(recording), ""]), encoding="utf-8")
    path.chmod(0o755)
    return path
