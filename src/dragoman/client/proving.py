"""Whether the real program can read a session file: it is asked, on a copy, in a home of its own.

The user's files are not touched: the home is a temporary folder with the one file in it (and those it
refers to), and nothing is asked of a model.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

from dragoman.client.connecting import connect
from dragoman.drive.process.programs import find_command_line
from dragoman.errors import AgentNotFound, DragomanError
from dragoman.harnesses import driven_harness
from dragoman.harnesses import harness as harness_named
from dragoman.harnesses.contract.care import Care
from dragoman.harnesses.contract.harness import Harness
from dragoman.model.answers import AgentSession
from dragoman.model.intents import ReadSession

SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The real program's verdict on a file."""

    accepted: bool | None
    """None if the program is not on this machine, so that it could not be asked."""
    text: str
    turns: int = 0
    items: int = 0


async def prove(
    path: Path,
    session_id: str,
    *,
    harness: str | None = None,
    has_turns: bool = False,
    beside: Iterable[tuple[Path, str]] = (),
    command: str | None = None,
) -> Proof:
    """Have the real program read a session file.

    ``has_turns``: it must find some. ``beside`` are the files, with their sessions, that it needs.
    """
    known = harness_named(harness) if harness is not None else driven_harness()
    history, care = known.history, known.care
    if known.program is None or history is None or care is None or not care.program_reads:
        return Proof(accepted=None, text=f"{known.title} cannot be asked to read a session")
    try:
        find_command_line(known.program, command)
    except AgentNotFound as problem:
        return Proof(accepted=None, text=str(problem))
    with tempfile.TemporaryDirectory(
        prefix="dragoman-proof-", ignore_cleanup_errors=True
    ) as folder:
        home = Path(history.home_folder.beneath(folder))
        _furnish(home, care, [(path, session_id), *beside])
        proof = await _ask(known, folder, session_id, command)
    if proof.accepted and has_turns and not proof.turns:
        return replace(proof, accepted=False)
    return proof


def _furnish(home: Path, care: Care, files: list[tuple[Path, str]]) -> None:
    """Put the files, the first of which is to be read, where the program looks for them."""
    for path, session_id in files:
        target = home / care.place(path.name, session_id)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    with files[0][0].open("rb") as file:
        for name, text in care.settings(file.readline()).items():
            (home / name).write_text(text, encoding="utf-8")


async def _ask(harness: Harness, home: str, session_id: str, command: str | None) -> Proof:
    assert harness.history is not None
    env = {harness.history.home_folder.variable: home}
    try:
        async with (
            asyncio.timeout(SECONDS),
            connect(harness.name, command=command, env=env) as agent,
        ):
            saved: AgentSession = await agent.ask(ReadSession(session_id=session_id, turns=True))
            if not saved.turns:
                # Some files are only read when the session is resumed.
                session = await agent.start(cwd=home, resume=session_id, access="read")
                saved = await session.read()
            program = (agent.facts.version if agent.facts else None) or "?"
    except TimeoutError:
        return Proof(accepted=False, text=f"it did not answer within {SECONDS:g} seconds")
    except (DragomanError, OSError, ExceptionGroup) as problem:
        return Proof(accepted=False, text=str(_first(problem)))
    turns, items = saved.turns, sum(turn.items for turn in saved.turns)
    text = f"{harness.title} {program} reads {len(turns)} turns with {items} items"
    return Proof(accepted=True, text=text, turns=len(turns), items=items)


def _first(problem: Exception) -> Exception:
    """The problem itself, out of the groups that tasks put it in."""
    while isinstance(problem, ExceptionGroup):
        problem = cast("ExceptionGroup[Exception]", problem).exceptions[0]
    return problem
