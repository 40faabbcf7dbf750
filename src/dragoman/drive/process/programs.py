"""Finds the program of a harness on this machine, and asks it for its release."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shlex
import shutil
from typing import Final

from dragoman.drive.process.child import Grace, Process
from dragoman.drive.process.releases import recall_release, remember_release
from dragoman.errors import AgentNotFound
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.program import Bundled, Program
from dragoman.harnesses.contract.transport import Launch
from dragoman.wire.lines import LongLine

RELEASE_SECONDS: Final = 10.0
_LONGEST_ANSWER: Final = 1 << 16
_SUFFIX: Final = ".exe" if os.name == "nt" else ""
_QUICK: Final = Grace(eof=0.5, terminate=0.5)


def find_command(program: Program, explicit: str | None = None) -> str:
    """The path of the harness's program.

    ``explicit`` is a path, a name on the PATH, or a command line that begins with one. Without it the
    PATH is searched, and then the Python package that may carry the program. Raises
    :class:`AgentNotFound` with what to do about it.
    """
    return find_command_line(program, explicit)[0]


def find_command_line(program: Program, explicit: str | None = None) -> tuple[str, ...]:
    """The path of the harness's program, and the words that the caller wrote after it."""
    if explicit is not None:
        return _find_explicit(program, explicit)
    if not program.command:
        raise AgentNotFound(f"it is not known which program to start: {program.install}")
    found = shutil.which(program.command) or find_bundled(program.bundled)
    if found is None:
        raise AgentNotFound(
            f"{program.command} is not on this machine: it is not on the PATH{_way_out(program)}"
        )
    return (os.path.abspath(found),)


def _find_explicit(program: Program, explicit: str) -> tuple[str, ...]:
    # A path may have spaces in it: as a whole first.
    if found := shutil.which(os.path.expanduser(explicit)):
        return (os.path.abspath(found),)
    try:
        words = shlex.split(explicit, posix=os.name == "posix")
    except ValueError as error:
        raise AgentNotFound(f"the command {explicit!r} cannot be read: {error}") from error
    if not words:
        raise AgentNotFound(f"the command is empty{_way_out(program)}")
    path = os.path.expanduser(words[0])
    if found := shutil.which(path):
        return (os.path.abspath(found), *words[1:])
    # The bare name means the harness, wherever its program is.
    if path == program.command and (found := find_bundled(program.bundled)):
        return (found, *words[1:])
    if not os.path.dirname(path):
        problem = "is not on the PATH"
    elif os.path.isfile(path):
        problem = "may not be run"
    else:
        problem = "is not there"
    raise AgentNotFound(f"{words[0]} {problem}{_way_out(program)}")


def find_bundled(bundled: Bundled | None) -> str | None:
    """The program in the package that may carry it. The package is located and not imported."""
    if bundled is None:
        return None
    try:
        spec = importlib.util.find_spec(bundled.package)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = os.path.join(folder, *bundled.file.split("/")) + _SUFFIX
        if os.path.isfile(path):
            return path
    return None


def _way_out(program: Program) -> str:
    if not program.command:
        return "; give its path"
    how = f" ({program.install})" if program.install else ""
    return f"; install {program.command}{how}, or say where it is"


async def read_release(
    path: str, program: Program, seconds: float = RELEASE_SECONDS, *, anew: bool = False
) -> Release | None:
    """The release that the program at ``path`` prints; None if it prints none, or not in time.

    A program that was asked before is asked again when its file has changed
    (:mod:`dragoman.drive.process.releases`), or ``anew``. Raises :class:`AgentNotFound` if it cannot be run at all.
    """
    known = recall_release(path) if not anew else None
    if known is not None and os.access(path, os.X_OK):
        return known
    release = await _ask_release(path, program, seconds)
    if release is not None:
        remember_release(path, release)
    return release


async def _ask_release(path: str, program: Program, seconds: float) -> Release | None:
    said: list[bytes] = []

    def receive(lines: list[bytes | LongLine]) -> None:
        if len(said) < 1000:
            said.extend(line for line in lines if isinstance(line, bytes))

    process = await Process.start(
        Launch(argv=(path, "--version"), stdin=False),
        receive,
        lambda: None,
        max_line=_LONGEST_ANSWER,
        grace=_QUICK,
    )
    try:
        async with asyncio.timeout(seconds):
            await process.finished()
    except TimeoutError:
        return None
    finally:
        await process.stop()
    return program.parse_release(b"\n".join(said).decode("utf-8", "replace"))
