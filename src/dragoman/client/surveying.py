"""What is known of every harness that can be driven here, without starting any of them as an agent."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from dragoman.client.connection import Connection
from dragoman.client.opening import program_of, sign_in_state
from dragoman.drive.process.programs import find_command_line, read_release
from dragoman.errors import AgentError
from dragoman.harnesses import broken_plugins, driven, driven_harness
from dragoman.harnesses.contract.capabilities import Capabilities, resolve_access
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.harness import Harness

SECONDS = 20.0


class Named(NamedTuple):
    """A harness by its name."""

    name: str
    title: str


class Unusable(NamedTuple):
    """A plug-in that is installed but cannot be used."""

    name: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """One harness on this machine."""

    name: str
    title: str
    program: str | None
    """The path of its program; None if it is not installed."""
    problem: str | None
    """Why its program cannot be used."""
    release: str | None
    signed_in: bool | None
    """None: unknown."""
    needs_sign_in: bool
    transports: tuple[str, ...]
    """The usual one first."""
    capabilities: Capabilities
    """Those of the installed release, or of the newest known one."""


def driven_names() -> list[Named]:
    """The harnesses that can be driven, the default one first."""
    return [Named(each.name, each.title) for each in driven()]


def unusable_plugins() -> list[Unusable]:
    return [Unusable(each.name, f"{each.value}: {each.problem}") for each in broken_plugins()]


def title_of(name: str | None) -> str:
    """The title of a harness, or of the default one. Raises UsageError with the known names."""
    return driven_harness(name).title


def check_access(harness: str | None, requested: str) -> None:
    """Raise UsageError for an access that the harness does not have, before anything starts.

    The installed release is unknown here; the agent checks the value against it when a session starts.
    """
    resolve_access(driven_harness(harness).capabilities(None), requested)


async def survey(command: str | None = None, *, harness: str | None = None) -> list[Survey]:
    """Every harness that can be driven, or only one; ``command`` is the program of that one."""
    wanted = [driven_harness(harness)] if harness is not None else list(driven())
    return list(await asyncio.gather(*(_survey(each, command) for each in wanted)))


async def _survey(harness: Harness, command: str | None) -> Survey:
    program = program_of(harness)
    path: str | None = None
    problem: str | None = None
    release: Release | None = None
    try:
        path = find_command_line(program, command)[0]
    except AgentError as error:
        problem = str(error)
    else:
        with suppress(AgentError, TimeoutError):
            async with asyncio.timeout(SECONDS):
                release = await read_release(path, program)
    signed = sign_in_state(program, Connection())
    return Survey(
        name=harness.name,
        title=harness.title,
        program=path,
        problem=problem,
        release=".".join(map(str, release)) if release is not None else None,
        signed_in=signed.signed_in,
        needs_sign_in=signed.needed,
        transports=tuple(each.name for each in harness.transports),
        capabilities=harness.capabilities(release),
    )
