"""Connecting to an agent: finds the harness and its program, and puts the engine room together.

``async with connect("codex") as codex`` gives an agent with one process for many sessions; with
``mode="exec"`` each prompt gets a process of its own. The process may be on another machine (``ssh``),
or be a server that somebody else has started (``address``).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

import msgspec

from dragoman.about import VERSION
from dragoman.crew.connection import Connection, LineKeeper, Mode
from dragoman.crew.reaching import Reach, reach
from dragoman.drive.agent import Agent, Plan
from dragoman.drive.clerk import Clerk
from dragoman.drive.desk import Desk
from dragoman.drive.exchange import Keeper
from dragoman.drive.journal import Journal
from dragoman.drive.links import OpenLink
from dragoman.drive.one_shots import OneShotAgent, OneShotSession, ShotPlan
from dragoman.drive.policy_file import read_policy
from dragoman.drive.session import Session
from dragoman.drive.tasks import Tasks
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.tool_calls import ToolCalls
from dragoman.drive.watching import watch
from dragoman.drive.workspaces import check_workspace, take_workspace
from dragoman.errors import UsageError
from dragoman.harnesses import HARNESSES
from dragoman.harnesses.driving import Driving, Launch
from dragoman.model.intents import Greet
from dragoman.model.messages import Message, Notice

Driver: TypeAlias = Agent | OneShotAgent
DriverSession: TypeAlias = Session | OneShotSession
__all__ = ["Connection", "Driver", "DriverSession", "Timeouts", "connect", "open_connection"]


@overload
def connect(
    harness: str | None = ..., *, mode: Literal["exec"], **options: Any
) -> AbstractAsyncContextManager[OneShotAgent]: ...
@overload
def connect(
    harness: str | None = ..., *, mode: Literal["app-server"] = ..., **options: Any
) -> AbstractAsyncContextManager[Agent]: ...
def connect(
    harness: str | None = None, *, mode: Mode = "app-server", **options: Any
) -> AbstractAsyncContextManager[Driver]:
    """An agent that is there to work, until the block is left; then all its processes are gone.

    Without the name of a harness it is the first that can be driven. The options are the fields of
    :class:`Connection`. Raises :class:`dragoman.errors.AgentError` when the agent cannot be started.
    """
    return open_connection(harness, Connection(mode=mode, **options))


@asynccontextmanager
async def open_connection(harness: str | None, how: Connection) -> AsyncGenerator[Driver]:
    """As :func:`connect`, with all options in one value."""
    driving = _driving(harness)
    if how.mode not in ("app-server", "exec"):
        raise UsageError(f"there is no mode {how.mode!r}; known: app-server, exec")
    opener = await reach(driving, how)
    async with AsyncExitStack() as stack:
        ours = _OurWords()
        journal = _journal(how, driving, stack, ours)
        if how.mode == "exec":
            agent = await _one_shots(driving, how, opener, journal, stack)
        else:
            agent = await _server(driving, how, opener, journal, stack)
        ours.begin(agent)
        yield agent


class _OurWords:
    """What we ourselves have to say to who reads an agent; kept until there is one."""

    def __init__(self) -> None:
        self._agent: Driver | None = None
        self._early: list[str] = []

    def begin(self, agent: Driver) -> None:
        self._agent = agent
        for text in self._early:
            self.say(text)

    def say(self, text: str) -> None:
        """To every turn that is under way; if there is none, it is a notice of the agent."""
        agent = self._agent
        if agent is None:
            self._early.append(text)
            return
        notice = Notice(level="error", text=text)
        notices: list[Message] = []
        for session in agent.sessions if isinstance(agent, Agent) else ():
            if (turn := session.turn) is not None:
                of_turn = {"session_id": session.id, "turn_id": turn.id}
                notices.append(msgspec.structs.replace(notice, **of_turn))
        agent.tell(notices or [notice])


def _driving(harness: str | None) -> Driving:
    known = {one.name: one.driving for one in HARNESSES if one.driving is not None}
    driving = known.get(harness if harness is not None else next(iter(known)))
    if driving is None:
        raise UsageError(f"there is no harness {harness!r} to drive; known: {', '.join(known)}")
    return driving


def _journal(
    how: Connection, driving: Driving, stack: AsyncExitStack, ours: _OurWords
) -> Keeper | None:
    if how.journal is None or not isinstance(how.journal, str | Path):
        return how.journal
    secrets = [*how.keys(driving.key_names).values(), *([how.token] if how.token else [])]

    def failed(error: OSError) -> None:
        reason = error.strerror or str(error)
        ours.say(f"the journal {how.journal} is given up: {reason}; the run goes on without it")

    journal = Journal(how.journal, secrets=secrets, failed=failed)
    if journal.error is not None:
        reason = journal.error.strerror or str(journal.error)
        raise UsageError(f"cannot write the journal {journal.path}: {reason}")
    stack.callback(journal.close)
    return journal


async def _server(
    driving: Driving,
    how: Connection,
    opener: Reach,
    journal: Keeper | None,
    stack: AsyncExitStack,
) -> Agent:
    launch = driving.serve(opener.program, opener.release)
    keeper = how.journal if not isinstance(how.journal, str | Path) else None
    key = next(iter(how.keys(driving.key_names).values()), None)
    plan = Plan(
        greet=Greet(client=how.client, client_version=VERSION, api_key=key),
        open_link=lambda: _announced(keeper, opener, launch),
        make_conversation=lambda: driving.make_conversation(opener.release, _unix_seconds),
        timeouts=how.timeouts,
        restarts=how.restarts if how.address is None else replace(how.restarts, at_most=0),
        journal=journal,
        check_workspace=check_workspace if opener.here else take_workspace,
    )
    policy = how.policy
    if isinstance(policy, str | Path):
        # Links in a path can be followed only where the path is.
        policy = read_policy(policy) if opener.here else read_policy(policy, resolve=None)
    desk = Desk(policy, ask=how.ask, deadline_seconds=how.ask_seconds)
    calls = await stack.enter_async_context(ToolCalls())
    await stack.enter_async_context(desk)
    agent = Agent(plan, Clerk(desk, calls))
    desk.hear(lambda notice: agent.tell([notice]))
    tasks = await stack.enter_async_context(Tasks())
    stack.push_async_callback(agent.close)
    await agent.begin()
    tasks.create_task(agent.keep_alive())
    tasks.create_task(watch(agent))
    return agent


def _announced(keeper: LineKeeper | None, opener: Reach, launch: Launch) -> OpenLink:
    if keeper is not None:
        keeper.begin()
    return opener.open(launch)


def _unix_seconds() -> int:
    return int(datetime.now(UTC).timestamp())


async def _one_shots(
    driving: Driving,
    how: Connection,
    opener: Reach,
    journal: Keeper | None,
    stack: AsyncExitStack,
) -> OneShotAgent:
    release = opener.release
    plan = ShotPlan(
        version=".".join(map(str, release)) if release is not None else None,
        launch=lambda shot: driving.run_once(opener.program, release, shot),
        make_run=lambda shot, spent: driving.make_run(release, shot, spent),
        open_link=opener.open,
        write_schema=_schema_file,
        timeouts=how.timeouts,
        journal=journal,
        check_workspace=check_workspace if opener.here else take_workspace,
    )
    tasks = await stack.enter_async_context(Tasks())
    agent = OneShotAgent(plan, tasks)
    stack.push_async_callback(agent.close)
    tasks.create_task(agent.watch())
    return agent


@contextmanager
def _schema_file(schema: Mapping[str, Any]) -> Generator[str]:
    """The schema in a file, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        path = Path(folder, "schema.json")
        path.write_text(json.dumps(schema), encoding="utf-8")
        yield str(path)
