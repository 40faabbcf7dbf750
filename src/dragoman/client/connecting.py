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
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

import msgspec

from dragoman.about import VERSION
from dragoman.client.connection import Connection, LineKeeper, Mode
from dragoman.client.environment import expanded_home
from dragoman.client.reaching import Reach, reach
from dragoman.drive.agent import Agent, Plan, no_profile
from dragoman.drive.approvals.policy import Policy, ask_always
from dragoman.drive.approvals.policy_file import read_policy
from dragoman.drive.approvals.queue import DEADLINE_SECONDS, ApprovalQueue, Ask
from dragoman.drive.exchange import Keeper
from dragoman.drive.journal import Journal
from dragoman.drive.links.link import OpenLink
from dragoman.drive.links.ssh import Remote
from dragoman.drive.one_shots import OneShotAgent, OneShotSession, ShotPlan
from dragoman.drive.restarting import Restarts
from dragoman.drive.router import Clerk
from dragoman.drive.session import Session
from dragoman.drive.tasks import Tasks
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.tools.calls import ToolCalls
from dragoman.drive.watching import watch
from dragoman.drive.workspaces import (
    check_images,
    check_workspace,
    take_images,
    take_workspace,
)
from dragoman.errors import UsageError, reason_of
from dragoman.harnesses import HARNESSES, Harness
from dragoman.harnesses.contract.driving import Driving, Launch, OneShot, SignIn
from dragoman.model.intents import Greet
from dragoman.model.messages import Message, Notice

Driver: TypeAlias = Agent | OneShotAgent
DriverSession: TypeAlias = Session | OneShotSession
__all__ = [
    "Connection",
    "Driver",
    "DriverSession",
    "Timeouts",
    "check_images",
    "connect",
    "open_connection",
    "sign_in_state",
    "take_images",
]


@overload
def connect(
    harness: str | None = ...,
    *,
    mode: Literal["exec"],
    command: str | None = ...,
    env: Mapping[str, str] | None = ...,
    api_key: str | None = ...,
    policy: Policy | str | Path = ...,
    ask: Ask | None = ...,
    ask_seconds: float | None = ...,
    timeouts: Timeouts | None = ...,
    restarts: Restarts | None = ...,
    journal: str | Path | LineKeeper | None = ...,
    ssh: Remote | str | None = ...,
    address: str | None = ...,
    token: str | None = ...,
    client: str = ...,
) -> AbstractAsyncContextManager[OneShotAgent]: ...
@overload
def connect(
    harness: str | None = ...,
    *,
    mode: Literal["app-server"] = ...,
    command: str | None = ...,
    env: Mapping[str, str] | None = ...,
    api_key: str | None = ...,
    policy: Policy | str | Path = ...,
    ask: Ask | None = ...,
    ask_seconds: float | None = ...,
    timeouts: Timeouts | None = ...,
    restarts: Restarts | None = ...,
    journal: str | Path | LineKeeper | None = ...,
    ssh: Remote | str | None = ...,
    address: str | None = ...,
    token: str | None = ...,
    client: str = ...,
) -> AbstractAsyncContextManager[Agent]: ...
def connect(
    harness: str | None = None,
    *,
    mode: Mode = "app-server",
    command: str | None = None,
    env: Mapping[str, str] | None = None,
    api_key: str | None = None,
    policy: Policy | str | Path = ask_always,
    ask: Ask | None = None,
    ask_seconds: float | None = DEADLINE_SECONDS,
    timeouts: Timeouts | None = None,
    restarts: Restarts | None = None,
    journal: str | Path | LineKeeper | None = None,
    ssh: Remote | str | None = None,
    address: str | None = None,
    token: str | None = None,
    client: str = "dragoman",
) -> AbstractAsyncContextManager[Driver]:
    """An agent that works until the block is left; then all its processes are gone.

    Without the name of a harness it is the first that can be driven. :class:`Connection` describes each
    option. Raises :class:`dragoman.errors.AgentError` when the agent cannot be started.
    """
    how = Connection(
        mode=mode,
        command=command,
        env=env or {},
        api_key=api_key,
        policy=policy,
        ask=ask,
        ask_seconds=ask_seconds,
        timeouts=timeouts or Timeouts(),
        restarts=restarts or Restarts(),
        journal=journal,
        ssh=ssh,
        address=address,
        token=token,
        client=client,
    )
    return open_connection(harness, how)


@asynccontextmanager
async def open_connection(harness: str | None, how: Connection) -> AsyncGenerator[Driver]:
    """As :func:`connect`, with all options in one value."""
    chosen = _harness(harness)
    driving = chosen.driving
    assert driving is not None
    if how.mode not in ("app-server", "exec"):
        raise UsageError(f"there is no mode {how.mode!r}; known: app-server, exec")
    how = _with_home(chosen, how)
    opener = await reach(driving, how)
    async with AsyncExitStack() as stack:
        ours = _OurWords()
        journal = _journal(how, driving, stack, ours)
        if how.mode == "exec":
            agent = await _one_shots(driving, how, opener, journal, stack)
        else:
            profile = _profile(chosen, how) if opener.here else no_profile
            agent = await _server(driving, how, opener, journal, stack, profile)
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


def _harness(name: str | None) -> Harness:
    known = {one.name: one for one in HARNESSES if one.driving is not None}
    chosen = known.get(name if name is not None else next(iter(known)))
    if chosen is None:
        raise UsageError(f"there is no harness {name!r} to drive; known: {', '.join(known)}")
    return chosen


def _with_home(harness: Harness, how: Connection) -> Connection:
    """The agent looks where we look: a ``~`` that the shell left in its home's variable is expanded."""
    if how.ssh is not None or how.address is not None:
        return how
    found = expanded_home(harness, {**os.environ, **how.env})
    return replace(how, env={**how.env, **found}) if found else how


def _profile(harness: Harness, how: Connection) -> Callable[[str], dict[str, Any]]:
    """What gives the settings of a profile in the harness's home on this machine."""
    history, driving = harness.history, harness.driving
    if driving is None or driving.profile is None or history is None:
        return no_profile
    read = driving.profile
    env = {**os.environ, **how.env}
    home = Path(env.get(history.home_variable) or Path("~", history.home_default)).expanduser()

    def text_of(name: str) -> str | None:
        try:
            return Path(home, name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageError(f"cannot read {Path(home, name)}: {problem}") from None

    return lambda name: read(name, text_of)


def _journal(
    how: Connection, driving: Driving, stack: AsyncExitStack, ours: _OurWords
) -> Keeper | None:
    if how.journal is None or not isinstance(how.journal, str | Path):
        return how.journal
    secrets = [*how.keys(driving.key_names).values(), *([how.token] if how.token else [])]

    def failed(error: OSError) -> None:
        ours.say(
            f"the journal {how.journal} is given up: {reason_of(error)}; the run goes on without it"
        )

    journal = Journal(how.journal, secrets=secrets, failed=failed)
    if journal.error is not None:
        raise UsageError(f"cannot write the journal {journal.path}: {reason_of(journal.error)}")
    stack.callback(journal.close)
    return journal


async def _server(
    driving: Driving,
    how: Connection,
    opener: Reach,
    journal: Keeper | None,
    stack: AsyncExitStack,
    profile: Callable[[str], dict[str, Any]],
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
        session_variable=driving.session_variable if opener.here else None,
        check_workspace=check_workspace if opener.here else take_workspace,
        check_images=check_images if opener.here else take_images,
        profile=profile,
    )
    policy = how.policy
    if isinstance(policy, str | Path):
        # Links in a path can be followed only where the path is.
        policy = read_policy(policy) if opener.here else read_policy(policy, resolve=None)
    desk = ApprovalQueue(policy, ask=how.ask, deadline_seconds=how.ask_seconds)
    calls = await stack.enter_async_context(ToolCalls())
    await stack.enter_async_context(desk)
    agent = Agent(plan, Clerk(desk, calls))
    desk.report_to(lambda notice: agent.tell([notice]))
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

    def launch(shot: OneShot) -> Launch:
        if opener.here:
            settings = _content(driving.settings_file({**os.environ, **how.env}))
            decided = driving.is_trust_decided(settings, shot.cwd)
            shot = replace(shot, trust_is_decided=decided)
        return driving.run_once(opener.program, release, shot)

    plan = ShotPlan(
        version=".".join(map(str, release)) if release is not None else None,
        sign_in=sign_in_state(driving, how) if opener.here else SignIn(),
        launch=launch,
        make_run=lambda shot, spent: driving.make_run(release, shot, spent),
        open_link=opener.open,
        write_schema=_schema_file,
        timeouts=how.timeouts,
        journal=journal,
        check_workspace=check_workspace if opener.here else take_workspace,
        check_images=check_images if opener.here else take_images,
    )
    tasks = await stack.enter_async_context(Tasks())
    agent = OneShotAgent(plan, tasks)
    stack.push_async_callback(agent.close)
    tasks.create_task(agent.watch())
    return agent


def sign_in_state(driving: Driving, how: Connection) -> SignIn:
    """Whether a user is signed in, before a process is started that could say so."""
    env = {**os.environ, **how.env, **how.keys(driving.key_names)}
    settings, kept = _content(driving.settings_file(env)), _content(driving.sign_in_file(env))
    return driving.sign_in(env, settings, kept)


def _content(path: str) -> bytes:
    """What a file of the user's holds; empty if it is not there."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


@contextmanager
def _schema_file(schema: Mapping[str, Any]) -> Generator[str]:
    """The schema in a file, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        path = Path(folder, "schema.json")
        path.write_text(json.dumps(schema), encoding="utf-8")
        yield str(path)
