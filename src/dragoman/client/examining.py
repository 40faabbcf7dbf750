"""What is known of a harness's program on this machine, without asking a model anything.

Each fact is determined separately: if one is unavailable, a sentence explains why.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from dragoman.client.connecting import connect
from dragoman.client.connection import Connection
from dragoman.client.opening import program_of, sign_in_state
from dragoman.drive.process.programs import find_command_line, read_release
from dragoman.errors import AgentError, DragomanError, UsageError
from dragoman.harnesses import driven_harness
from dragoman.harnesses.contract.capabilities import Capabilities
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.transport import OneShot, TurnTransport
from dragoman.model.intents import OpenSession, ServerFacts

SECONDS: Final = 20.0
"""For everything that the program is asked."""


@dataclass(slots=True, kw_only=True)
class Examination:
    """What was found out. ``None`` where the fact could not be had."""

    harness: str
    home: Path
    """Where the program keeps its settings and its sessions."""
    program: str | None = None
    found: str = ""
    """How it was found: ``on the PATH``, ``in the package …``, ``as it was named``."""
    release: str | None = None
    speaks: tuple[str, ...] = ()
    """The dialects of this release, as text."""
    capabilities: Capabilities | None = None
    """What this release offers."""
    facts: ServerFacts | None = None
    """What the program reported when it was started and greeted. One that cannot be greeted has reported nothing:
    then these are only what its files and the environment show about the sign-in."""
    key_names: tuple[str, ...] = ()
    """Variables that may hold a key."""
    sandbox_trials: tuple[tuple[str, ...], ...] = ()
    """Arguments to try its sandbox with; empty if it has none to try."""
    title: str = ""
    transports: tuple[str, ...] = ()
    """The ways to drive it, the usual one first."""
    has_one_shots: bool = False
    """Whether one of them starts a process for each prompt."""
    install: str = ""
    """How to install it."""
    problems: dict[str, str] = field(default_factory=dict[str, str])
    """By what it is about: ``program``, ``release``, ``server``, ``one_shot``, ``greeting``."""


async def examine(
    command: str | None = None,
    *,
    harness: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Examination:
    """Look at a harness's program: where it is, its release, whether it starts and is signed in."""
    chosen = driven_harness(harness)
    program = program_of(chosen)
    env = dict(env or {})
    found = Examination(harness=chosen.name, home=home_of(chosen, {**os.environ, **env}))
    found.key_names = program.key_names
    found.sandbox_trials = program.sandbox_trials
    found.title, found.install = chosen.title, program.install
    found.transports = tuple(each.name for each in chosen.transports)
    found.has_one_shots = any(isinstance(each, TurnTransport) for each in chosen.transports)
    try:
        found.program = find_command_line(program, command)[0]
    except AgentError as problem:
        found.problems["program"] = str(problem)
        return found
    found.found = _how(program, command, found.program)
    release = await _release(found, program)
    found.speaks = tuple(program.speaks(release))
    found.capabilities = chosen.capabilities(release)
    _try_transports(found, chosen, release)
    if "server" not in found.problems:
        await _greet(found, command, env)
    else:
        kept = sign_in_state(program, Connection(env=env))
        found.facts = ServerFacts(
            version=found.release, signed_in=kept.signed_in, needs_sign_in=kept.needed
        )
    return found


async def capabilities(command: str | None = None, *, harness: str | None = None) -> Capabilities:
    """What the installed release offers; without one, what the newest known release does."""
    chosen = driven_harness(harness)
    program = program_of(chosen)
    release: Release | None = None
    with suppress(AgentError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            release = await read_release(find_command_line(program, command)[0], program, anew=True)
    return chosen.capabilities(release)


async def approval_modes(
    command: str | None = None, *, harness: str | None = None
) -> tuple[str, ...]:
    """When the installed release can be set to ask; what all releases know, if there is none."""
    offered = await capabilities(command, harness=harness)
    return tuple(choice.value for choice in offered.asking)


def home_of(harness: Harness, env: Mapping[str, str]) -> Path:
    """The home of this harness in this environment; the user's own, if it keeps nothing on the disk."""
    history = harness.history
    return Path(history.home(env) if history is not None else "~").expanduser()


def _how(program: Program, command: str | None, path: str) -> str:
    if command is not None:
        return "as it was named"
    on_path = shutil.which(program.command)
    if on_path is not None and os.path.abspath(on_path) == path:
        return "on the PATH"
    return f"in the package {program.bundled.package}" if program.bundled else ""


async def _release(found: Examination, program: Program) -> Release | None:
    assert found.program is not None
    release: Release | None = None
    with suppress(AgentError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            release = await read_release(found.program, program, anew=True)
    if release is None:
        found.problems["release"] = "its release is unknown"
    else:
        found.release = ".".join(map(str, release))
    return release


def _try_transports(found: Examination, harness: Harness, release: Release | None) -> None:
    """Which transports this release has: the launch of one that it lacks is refused."""
    assert found.program is not None
    for transport in harness.transports:
        try:
            if isinstance(transport, TurnTransport):
                transport.launch(found.program, release, OneShot(prompt="", cwd=os.getcwd()))
            elif transport.sessions == "one":
                transport.launch(found.program, release, OpenSession(cwd=os.getcwd()))
            else:
                transport.launch(found.program, release, None)
        except UsageError as problem:
            kind = "one_shot" if isinstance(transport, TurnTransport) else "server"
            found.problems[kind] = str(problem)


async def _greet(found: Examination, command: str | None, env: dict[str, str]) -> None:
    try:
        async with (
            asyncio.timeout(SECONDS),
            connect(found.harness, command=command, env=env) as agent,
        ):
            found.facts = agent.facts
    except TimeoutError:
        found.problems["greeting"] = f"it did not answer within {SECONDS:g} seconds"
    except (DragomanError, OSError, ExceptionGroup) as problem:
        found.problems["greeting"] = str(_first(problem))


def _first(problem: Exception) -> Exception:
    """The problem itself, out of the groups that tasks put it in."""
    while isinstance(problem, ExceptionGroup):
        problem = cast("ExceptionGroup[Exception]", problem).exceptions[0]
    return problem
