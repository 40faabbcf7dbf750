"""Finds the program of a harness on this machine, and asks it for its release."""

from __future__ import annotations

import asyncio
import importlib
import os
import shlex
import shutil
from typing import Final

from dragoman.drive.process.child import Grace, Process
from dragoman.errors import AgentNotFound
from dragoman.harnesses.contract.driving import Driving, Launch, Release
from dragoman.wire.lines import LongLine

RELEASE_SECONDS: Final = 10.0
_LONGEST_ANSWER: Final = 1 << 16
_QUICK: Final = Grace(eof=0.5, terminate=0.5)


def find_command(driving: Driving, explicit: str | None = None) -> str:
    """The path of the harness's program.

    ``explicit`` is a path, a name on the PATH, or a command line that begins with one. Without it the
    program is looked for on the PATH, and then in the Python package that may carry it. Raises
    :class:`AgentNotFound`, with the way out.
    """
    return find_command_line(driving, explicit)[0]


def find_command_line(driving: Driving, explicit: str | None = None) -> tuple[str, ...]:
    """The path of the harness's program, and the words that the caller wrote after it."""
    if explicit is not None:
        return _find_explicit(driving, explicit)
    found = shutil.which(driving.command) or _find_bundled(driving)
    if found is None:
        raise AgentNotFound(
            f"{driving.command} is not on this machine: it is not on the PATH{_way_out(driving)}"
        )
    return (os.path.abspath(found),)


def _find_explicit(driving: Driving, explicit: str) -> tuple[str, ...]:
    # A path may have spaces in it: as a whole first.
    if found := shutil.which(os.path.expanduser(explicit)):
        return (os.path.abspath(found),)
    try:
        words = shlex.split(explicit, posix=os.name == "posix")
    except ValueError as error:
        raise AgentNotFound(f"the command {explicit!r} cannot be read: {error}") from error
    if not words:
        raise AgentNotFound(f"the command is empty{_way_out(driving)}")
    program = os.path.expanduser(words[0])
    if found := shutil.which(program):
        return (os.path.abspath(found), *words[1:])
    # Whoever says the name as such means the harness, wherever it is.
    if program == driving.command and (found := _find_bundled(driving)):
        return (found, *words[1:])
    if not os.path.dirname(program):
        problem = "is not on the PATH"
    elif os.path.isfile(program):
        problem = "may not be run"
    else:
        problem = "is not there"
    raise AgentNotFound(f"{words[0]} {problem}{_way_out(driving)}")


def _find_bundled(driving: Driving) -> str | None:
    if driving.bundled is None:
        return None
    package, function = driving.bundled
    try:
        path = str(getattr(importlib.import_module(package), function)())
    except (ImportError, AttributeError, OSError):
        return None  # not installed, another edition of it, or one for another machine
    return path if os.path.isfile(path) else None


def _way_out(driving: Driving) -> str:
    how = f" ({driving.install})" if driving.install else ""
    return f"; install {driving.command}{how}, or say where it is"


async def read_release(
    path: str, driving: Driving, seconds: float = RELEASE_SECONDS
) -> Release | None:
    """The release that the program at ``path`` says it is; None if it does not say, or not in time.

    Raises :class:`AgentNotFound` if it cannot be run at all.
    """
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
    return driving.parse_release(b"\n".join(said).decode("utf-8", "replace"))
