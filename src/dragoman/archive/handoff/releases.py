"""The release of the program that will resume a session, as far as it is known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from dragoman.drive.process.programs import find_command
from dragoman.drive.process.releases import recall_release
from dragoman.errors import AgentNotFound
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.program import Program


def installed_release(program: Program) -> Release | None:
    """Return the release of an installed program; None if it is not installed or does not report one."""
    try:
        path = find_command(program)
    except AgentNotFound:
        return None
    known = recall_release(path)
    if known is not None:
        return known
    # In a thread of its own: the caller may have an event loop.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_ask, path, program).result()


def _ask(path: str, program: Program) -> Release | None:
    import asyncio

    from dragoman.drive.process.programs import read_release

    try:
        return asyncio.run(read_release(path, program))
    except AgentNotFound:
        return None
