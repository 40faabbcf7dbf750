"""What is known of a harness's program on this machine, without asking a model anything.

Each fact is found out by itself: one that cannot be had leaves the sentence that says why.
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

from dragoman.client.connecting import Connection, connect, sign_in_state
from dragoman.drive.process.programs import find_command_line, read_release
from dragoman.errors import AgentError, DragomanError, UsageError
from dragoman.harnesses import HARNESSES, harness
from dragoman.harnesses.contract.driving import Driving, OneShot, Release
from dragoman.model.intents import ServerFacts

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
    """What this release speaks and writes, in words."""
    facts: ServerFacts | None = None
    """What the program said when it was started and greeted. One that cannot be greeted has said nothing:
    then these are only what its files and the environment say of the sign-in."""
    key_names: tuple[str, ...] = ()
    """Variables that may hold a key."""
    problems: dict[str, str] = field(default_factory=dict[str, str])
    """By what it is about: ``program``, ``release``, ``server``, ``one_shot``, ``greeting``."""


async def examine(
    command: str | None = None,
    *,
    harness: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Examination:
    """Look at a harness's program: where it is, its release, whether it starts and is signed in."""
    name, driving = _named(harness)
    env = dict(env or {})
    found = Examination(harness=name, home=home_of(name, {**os.environ, **env}))
    found.key_names = driving.key_names
    try:
        found.program = find_command_line(driving, command)[0]
    except AgentError as problem:
        found.problems["program"] = str(problem)
        return found
    found.found = _how(driving, command, found.program)
    release = await _release(found, driving)
    found.speaks = tuple(driving.speaks(release))
    _can(found, driving, release)
    if "server" not in found.problems:
        await _greet(found, command, env)
    else:
        kept = sign_in_state(driving, Connection(env=env))
        found.facts = ServerFacts(
            version=found.release, signed_in=kept.signed_in, needs_sign_in=kept.needed
        )
    return found


async def approval_modes(command: str | None = None) -> tuple[str, ...]:
    """When the installed release can be told to ask; what all releases know, if there is none."""
    driving = _named(None)[1]
    release: Release | None = None
    with suppress(AgentError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            release = await read_release(find_command_line(driving, command)[0], driving)
    return driving.approval_modes(release)


def _named(harness: str | None) -> tuple[str, Driving]:
    for each in HARNESSES:
        if each.driving is not None and harness in (None, each.name):
            return each.name, each.driving
    raise UsageError(f"there is no harness {harness!r} to drive")


def home_of(name: str, env: Mapping[str, str]) -> Path:
    """The home of this harness in this environment; the user's own, if it keeps nothing on the disk."""
    history = harness(name).history
    return Path(history.home(env) if history is not None else "~").expanduser()


def _how(driving: Driving, command: str | None, program: str) -> str:
    if command is not None:
        return "as it was named"
    on_path = shutil.which(driving.command)
    if on_path is not None and os.path.abspath(on_path) == program:
        return "on the PATH"
    return f"in the package {driving.bundled[0]}" if driving.bundled else ""


async def _release(found: Examination, driving: Driving) -> Release | None:
    assert found.program is not None
    release: Release | None = None
    with suppress(AgentError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            release = await read_release(found.program, driving)
    if release is None:
        found.problems["release"] = "it does not tell its release"
    else:
        found.release = ".".join(map(str, release))
    return release


def _can(found: Examination, driving: Driving, release: Release | None) -> None:
    assert found.program is not None
    try:
        driving.serve(found.program, release)
    except UsageError as problem:
        found.problems["server"] = str(problem)
    try:
        driving.run_once(found.program, release, OneShot(prompt="", cwd=os.getcwd()))
    except UsageError as problem:
        found.problems["one_shot"] = str(problem)


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
