"""Connecting to an agent: finds the harness and its program, and puts the engine room together.

``async with connect("codex") as codex`` gives an agent with one process for many sessions; with
``mode="exec"`` each prompt gets a process of its own. The process may be on another machine (``ssh``),
or be a server that somebody else has started (``address``).
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

import msgspec

from dragoman.about import VERSION
from dragoman.drive.agent import Agent, Plan
from dragoman.drive.clerk import Clerk
from dragoman.drive.commands import find_command_line, read_release
from dragoman.drive.desk import DEADLINE_SECONDS, Ask, Desk
from dragoman.drive.journal import Journal
from dragoman.drive.links import OpenLink
from dragoman.drive.one_shots import OneShotAgent, OneShotSession, ShotPlan
from dragoman.drive.policy import Policy, ask_always
from dragoman.drive.policy_file import read_policy
from dragoman.drive.process import open_process
from dragoman.drive.restarting import Restarts
from dragoman.drive.session import Session
from dragoman.drive.ssh import Remote
from dragoman.drive.ssh_link import open_ssh
from dragoman.drive.tasks import Tasks
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.tool_calls import ToolCalls
from dragoman.drive.workspaces import check_workspace, take_workspace
from dragoman.errors import UsageError
from dragoman.harnesses import HARNESSES
from dragoman.harnesses.driving import Driving, Launch, Release
from dragoman.model.intents import Greet
from dragoman.model.messages import Message, Notice

Driver: TypeAlias = Agent | OneShotAgent
DriverSession: TypeAlias = Session | OneShotSession
Mode: TypeAlias = Literal["app-server", "exec"]


@dataclass(frozen=True, kw_only=True)
class Connection:
    """All that can be said about how an agent is to be reached and treated."""

    mode: Mode = "app-server"
    command: str | None = None
    """Where its program is, if not on the PATH; arguments may follow."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Laid over our own environment, for the agent."""
    api_key: str | None = field(default=None, repr=False)
    """To sign in with when nobody is signed in; else the harness's own variable, CODEX_API_KEY."""
    policy: Policy | str | Path = ask_always
    """Who decides what the agent may do: a callable, or the path of a file with rules."""
    ask: Ask | None = None
    """Asks a person. Without it nobody is asked, and what the policy leaves open is denied."""
    ask_seconds: float | None = DEADLINE_SECONDS
    timeouts: Timeouts = field(default_factory=Timeouts)
    restarts: Restarts = field(default_factory=Restarts)
    journal: str | Path | None = None
    """A file to keep every line in, as it was said."""
    ssh: Remote | str | None = None
    """The machine that the agent runs on."""
    address: str | None = None
    """``unix://PATH`` or ``ws://HOST:PORT``: a server that is there already."""
    token: str | None = field(default=None, repr=False)
    """For the server at ``address``."""
    client: str = "dragoman"


@overload
def connect(
    harness: str, *, mode: Literal["exec"], **options: Any
) -> AbstractAsyncContextManager[OneShotAgent]: ...
@overload
def connect(
    harness: str, *, mode: Literal["app-server"] = ..., **options: Any
) -> AbstractAsyncContextManager[Agent]: ...
def connect(
    harness: str, *, mode: Mode = "app-server", **options: Any
) -> AbstractAsyncContextManager[Driver]:
    """An agent that is there to work, until the block is left; then all its processes are gone.

    The options are the fields of :class:`Connection`. Raises :class:`dragoman.errors.AgentError` when
    the agent cannot be started.
    """
    return open_connection(harness, Connection(mode=mode, **options))


@asynccontextmanager
async def open_connection(harness: str, how: Connection) -> AsyncGenerator[Driver]:
    """As :func:`connect`, with all options in one value."""
    driving = _driving(harness)
    if how.mode not in ("app-server", "exec"):
        raise UsageError(f"there is no mode {how.mode!r}; known: app-server, exec")
    opener = await _opener(driving, how)
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


def _driving(harness: str) -> Driving:
    known = {one.name: one.driving for one in HARNESSES if one.driving is not None}
    driving = known.get(harness)
    if driving is None:
        raise UsageError(f"there is no harness {harness!r} to drive; known: {', '.join(known)}")
    return driving


@dataclass(frozen=True, kw_only=True)
class _Opener:
    """How the harness's processes are started, wherever that is."""

    program: str
    release: Release | None
    open: Callable[[Launch], OpenLink]
    here: bool
    """Whether on this machine, where directories can be looked at."""


async def _opener(driving: Driving, how: Connection) -> _Opener:
    if how.address is not None:
        from dragoman.drive.sockets import open_address

        if how.mode == "exec":
            raise UsageError("a server that is there already has no mode 'exec'")
        address, token = how.address, how.token

        def attach(launch: Launch) -> OpenLink:
            return open_address(address, token=token)

        return _Opener(program="", release=None, open=attach, here=False)
    if how.ssh is not None:
        remote = how.ssh if isinstance(how.ssh, Remote) else Remote(host=how.ssh)
        secrets = _keys(driving, how)

        def reach(launch: Launch) -> OpenLink:
            return open_ssh(_with_env(launch, how), remote, secrets=secrets)

        program = how.command or driving.command
        return _Opener(program=program, release=None, open=reach, here=False)
    words = find_command_line(driving, how.command)
    release = await read_release(words[0], driving)
    hidden = tuple(_keys(driving, how).values())

    def start(launch: Launch) -> OpenLink:
        return open_process(_with_env(launch, how), secrets=hidden)

    return _Opener(program=words[0], release=release, open=start, here=True)


def _with_env(launch: Launch, how: Connection) -> Launch:
    return replace(launch, env={**launch.env, **how.env})


def _keys(driving: Driving, how: Connection) -> dict[str, str]:
    """The keys in the agent's environment, by the names of their variables."""
    here = {**os.environ, **how.env}
    keys = {name: here[name] for name in driving.key_names if here.get(name)}
    if how.api_key is not None and driving.key_names:
        keys[driving.key_names[0]] = how.api_key
    return keys


def _journal(
    how: Connection, driving: Driving, stack: AsyncExitStack, ours: _OurWords
) -> Journal | None:
    if how.journal is None:
        return None
    secrets = [*_keys(driving, how).values(), *([how.token] if how.token else [])]

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
    opener: _Opener,
    journal: Journal | None,
    stack: AsyncExitStack,
) -> Agent:
    launch = driving.serve(opener.program, opener.release)
    key = next(iter(_keys(driving, how).values()), None)
    plan = Plan(
        greet=Greet(client=how.client, client_version=VERSION, api_key=key),
        open_link=lambda: opener.open(launch),
        make_conversation=lambda: driving.make_conversation(opener.release, _unix_seconds),
        timeouts=how.timeouts,
        restarts=how.restarts if how.address is None else replace(how.restarts, at_most=0),
        journal=journal,
        check_workspace=check_workspace if opener.here else take_workspace,
    )
    policy = read_policy(how.policy) if isinstance(how.policy, str | Path) else how.policy
    desk = Desk(policy, ask=how.ask, deadline_seconds=how.ask_seconds)
    calls = await stack.enter_async_context(ToolCalls())
    await stack.enter_async_context(desk)
    agent = Agent(plan, Clerk(desk, calls))
    desk.hear(lambda notice: agent.tell([notice]))
    tasks = await stack.enter_async_context(Tasks())
    stack.push_async_callback(agent.close)
    await agent.begin()
    tasks.create_task(agent.keep_alive())
    tasks.create_task(agent.watch())
    return agent


def _unix_seconds() -> int:
    return int(datetime.now(UTC).timestamp())


async def _one_shots(
    driving: Driving,
    how: Connection,
    opener: _Opener,
    journal: Journal | None,
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
