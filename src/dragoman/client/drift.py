"""Asking the installed program for its schema, and holding that against what we know."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dragoman.client.environment import agent_environ
from dragoman.drive.process.programs import find_command_line, read_release
from dragoman.errors import AgentError, UsageError
from dragoman.harnesses import driven
from dragoman.harnesses.contract.program import Drift, Program, Schema

SECONDS: Final = 60.0
"""For everything that the program is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted:
    """What an installed program reports about itself that we do not know."""

    program: str
    release: str | None
    drift: Drift


async def find_drift(command: str | None = None, *, harness: str | None = None) -> Drifted:
    """Ask a harness's program for its schema. Raises :class:`AgentError` where it has none to give."""
    known, schema = _with_schema(harness)
    program = find_command_line(known, command)[0]
    release = None
    with suppress(AgentError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            release = await read_release(program, known)
    name = ".".join(map(str, release)) if release else None
    with tempfile.TemporaryDirectory(prefix="dragoman-schema-") as folder:
        said = await _run(program, *schema.arguments(folder))
        written = _read(folder, schema.file)
    if written is None:
        words = " ".join((known.command, *schema.arguments("DIR")[:-2]))
        why = next((line for line in said.splitlines() if "error" in line), "nothing")
        raise AgentError(
            f"{program} ({name or 'release unknown'}) does not print its schema: `{words}` said "
            f"{why.strip()!r}; releases since 0.57 have that command"
        )
    try:
        return Drifted(program=program, release=name, drift=schema.drift(written))
    except ValueError as problem:
        raise AgentError(f"the schema of {program} cannot be read: {problem}") from problem


def _read(folder: str, name: str) -> bytes | None:
    try:
        return Path(folder, name).read_bytes()
    except OSError:
        return None


def _with_schema(harness: str | None) -> tuple[Program, Schema]:
    for each in driven():
        program = each.program
        if program is not None and harness in (None, each.name) and program.schema:
            return program, program.schema
    raise UsageError(f"no harness {harness or ''} prints its schema".replace("  ", " "))


async def _run(program: str, *arguments: str) -> str:
    """Run it to its end; what it printed. A program that does not end is killed."""
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=agent_environ(),
        )
    except OSError as problem:
        raise AgentError(f"{program} cannot be started: {problem.strerror}") from problem
    try:
        async with asyncio.timeout(SECONDS):
            said, _ = await process.communicate()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise AgentError(f"{program} did not write its schema within {SECONDS:g} seconds") from None
    return said.decode("utf-8", "replace")
