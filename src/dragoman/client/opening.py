"""Opening a connection: chooses the transport and the program, and assembles the engine.

The process may be on another machine (``ssh``), or be a server that is already running (``address``).
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from dragoman.about import VERSION
from dragoman.client.connection import Connection
from dragoman.client.environment import env_with_home
from dragoman.client.own_files import OwnFiles
from dragoman.client.reaching import Reach, reach
from dragoman.drive.links.exchange import Keeper
from dragoman.drive.links.link import OpenLink
from dragoman.drive.tasks import Tasks
from dragoman.drive.workspaces import (
    CheckImages,
    check_images,
    check_workspace,
    inline_images,
    no_profile,
    take_images,
    take_workspace,
)
from dragoman.errors import UsageError, reason_of
from dragoman.harnesses import driven_harness
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.history import History
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.sign_in import SignIn
from dragoman.harnesses.contract.transport import (
    Launch,
    OneShot,
    SessionTransport,
    Transport,
    TurnTransport,
)
from dragoman.model.intents import Greet, OpenSession, ServerFacts
from dragoman.model.messages import Message, Notice

if TYPE_CHECKING:
    from dragoman.drive.agent import Agent
    from dragoman.drive.session import Session
    from dragoman.drive.turns.one_shots import OneShotAgent, OneShotSession

Driver: TypeAlias = "Agent | OneShotAgent"
DriverSession: TypeAlias = "Session | OneShotSession"


@asynccontextmanager
async def open_connection(harness: str | None, how: Connection) -> AsyncGenerator[Driver]:
    """As :func:`connect`, with all options in one value."""
    chosen = driven_harness(harness)
    transport = transport_of(chosen, how.wanted_transport)
    program = program_of(chosen)
    how = replace(how, env=env_with_home(chosen, how))
    opener = await reach(program, transport, how)
    async with AsyncExitStack() as stack:
        notices = _OwnNotices()
        how = _with_own_journals(chosen, how, opener, stack, notices)
        journal = _journal(how, program, stack, notices)
        if isinstance(transport, TurnTransport):
            agent = await _one_shots(chosen, transport, how, opener, journal, stack)
        else:
            agent = await _agent(chosen, transport, how, opener, journal, stack)
        notices.begin(agent)
        yield agent


def transport_of(harness: Harness, name: str | None) -> Transport:
    """The transport of this name, or the usual one. Raises :class:`UsageError` with the known ones."""
    transport = harness.transport(name)
    if transport is None:
        known = ", ".join(each.name for each in harness.transports)
        raise UsageError(f"{harness.title} has no transport {name!r}; known: {known}")
    return transport


def program_of(harness: Harness) -> Program:
    """The program of a harness that can be driven."""
    if harness.program is None:
        raise UsageError(f"{harness.title} has no program to start")
    return harness.program


class _OwnNotices:
    """Notices of our own for those who read an agent; kept until there is one."""

    def __init__(self) -> None:
        self._agent: Driver | None = None
        self._early: list[str] = []

    def begin(self, agent: Driver) -> None:
        self._agent = agent
        for text in self._early:
            self.emit(text)

    def emit(self, text: str) -> None:
        """To every turn that is under way; if there is none, it is a notice of the agent."""
        from dragoman.drive.agent import Agent

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
        agent.publish(notices or [notice])


def _profile(harness: Harness, how: Connection) -> Callable[[str], dict[str, Any]]:
    """What gives the settings of a profile in the harness's home on this machine."""
    program = harness.program
    if program is None or program.profile is None or harness.history is None:
        return no_profile
    read, text_of = program.profile, _home_reader(harness.history, how)
    return lambda name: read(name, text_of)


def _home_reader(history: History, how: Connection) -> Callable[[str], str | None]:
    """What gives the text of a file in the harness's home on this machine, None if it is missing."""
    home = Path(history.home({**os.environ, **how.env})).expanduser()

    def text_of(name: str) -> str | None:
        try:
            return Path(home, name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageError(f"cannot read {Path(home, name)}: {problem}") from None

    return text_of


def _secrets(how: Connection, program: Program) -> list[str]:
    return [*how.keys(program.key_names).values(), *([how.token] if how.token else [])]


def _with_own_journals(
    harness: Harness, how: Connection, opener: Reach, stack: AsyncExitStack, notices: _OwnNotices
) -> Connection:
    """For programs that keep no sessions we could read, keep what is exchanged with them."""
    history = harness.history
    if how.journal is not None or not opener.here or history is None or not history.journals:
        return how
    from dragoman.client.own_journals import OwnJournals, journal_folder

    folder = journal_folder(history, {**os.environ, **how.env})
    keys = _secrets(how, program_of(harness))
    own = OwnJournals(folder, opener.program, secrets=keys, notify=notices.emit)
    stack.callback(own.close)
    return replace(how, journal=own)


def _journal(
    how: Connection, program: Program, stack: AsyncExitStack, notices: _OwnNotices
) -> Keeper | None:
    if how.journal is None or not isinstance(how.journal, str | Path):
        return how.journal
    from dragoman.drive.links.journal import Journal

    secrets = _secrets(how, program)

    def failed(error: OSError) -> None:
        notices.emit(
            f"the journal {how.journal} is given up: {reason_of(error)}; continuing without it"
        )

    journal = Journal(how.journal, secrets=secrets, failed=failed)
    if journal.error is not None:
        raise UsageError(f"cannot write the journal {journal.path}: {reason_of(journal.error)}")
    stack.callback(journal.close)
    return journal


async def _agent(
    harness: Harness,
    transport: SessionTransport,
    how: Connection,
    opener: Reach,
    journal: Keeper | None,
    stack: AsyncExitStack,
) -> Agent:
    from dragoman.drive.agent import Agent, AgentPlan
    from dragoman.drive.approvals.queue import ApprovalQueue
    from dragoman.drive.router import RequestRouter
    from dragoman.drive.tools.calls import ToolCalls
    from dragoman.drive.turns.watching import watch

    program = program_of(harness)
    is_single = transport.sessions == "one"
    keeper = how.journal if not isinstance(how.journal, str | Path) else None
    key = next(iter(how.keys(program.key_names).values()), None)

    env = {**os.environ, **how.env}
    files = OwnFiles(transport.files if opener.here else None, env)

    def open_link(opening: OpenSession | None) -> OpenLink:
        link = opener.open(transport.launch(opener.program, opener.release, opening))
        return files.followed(link, opening)

    def open_journal() -> Keeper | None:
        return (keeper.begin() or keeper) if keeper is not None else journal

    if not is_single and opener.release is not None:
        open_link(None)  # refuses a release that cannot do it before anything is started
    plan = AgentPlan(
        greet=Greet(client=how.client, client_version=VERSION, api_key=key),
        open_link=open_link,
        make_conversation=lambda: transport.conversation(opener.release, _unix_seconds),
        capabilities=lambda version: harness.capabilities(
            program.parse_release(version) if version else opener.release
        ),
        facts=_facts(program, how, opener) if is_single else None,
        process_per_session=is_single,
        timeouts=how.timeouts,
        restarts=how.restarts if how.address is None else replace(how.restarts, at_most=0),
        resume_pause=files.resume_pause,
        resume_reason=files.resume_reason,
        open_journal=open_journal,
        session_variable=program.session_variable if opener.here else None,
        check_workspace=check_workspace if opener.here else take_workspace,
        check_images=_check_images(transport, is_here=opener.here),
        profile=_profile(harness, how) if opener.here else no_profile,
        settings=transport.settings(env) if opener.here else {},
    )
    policy = how.policy
    if isinstance(policy, str | Path):
        from dragoman.drive.approvals.policy_file import read_policy

        # Links in a path can be followed only where the path is.
        policy = read_policy(policy) if opener.here else read_policy(policy, resolve=None)
    queue = ApprovalQueue(policy, ask=how.ask, deadline_seconds=how.ask_seconds)
    calls = await stack.enter_async_context(ToolCalls())
    await stack.enter_async_context(queue)
    tasks = await stack.enter_async_context(Tasks())
    can = harness.capabilities(opener.release).can
    agent = Agent(plan, RequestRouter(queue, calls, in_answer="deny_message" in can), tasks)
    queue.report_to(lambda notice: agent.publish([notice]))
    stack.push_async_callback(agent.close)
    await agent.begin()
    tasks.create_task(watch(agent))
    return agent


def _check_images(transport: SessionTransport, *, is_here: bool) -> CheckImages:
    if not transport.takes_paths:
        return inline_images  # the files are ours, wherever the agent is
    return check_images if is_here else take_images


def _facts(program: Program, how: Connection, opener: Reach) -> ServerFacts:
    """What is known before a process was greeted."""
    signed = sign_in_state(program, how) if opener.here else SignIn()
    return ServerFacts(
        version=".".join(map(str, opener.release)) if opener.release is not None else None,
        signed_in=signed.signed_in,
        needs_sign_in=signed.needed,
    )


def _unix_seconds() -> int:
    return int(datetime.now(UTC).timestamp())


async def _one_shots(
    harness: Harness,
    transport: TurnTransport,
    how: Connection,
    opener: Reach,
    journal: Keeper | None,
    stack: AsyncExitStack,
) -> OneShotAgent:
    from dragoman.drive.turns.one_shots import OneShotAgent
    from dragoman.drive.turns.shots import ShotPlan

    release, program = opener.release, program_of(harness)
    check, history = transport.check_profile, harness.history

    def launch(shot: OneShot) -> Launch:
        if opener.here and shot.profile is not None and check is not None and history is not None:
            # Codex goes on without a profile that it does not find.
            check(shot.profile, release, _home_reader(history, how))
        if opener.here and program.settings_file and program.is_trust_decided:
            settings = _content(program.settings_file({**os.environ, **how.env}))
            decided = program.is_trust_decided(settings, shot.cwd)
            shot = replace(shot, trust_is_decided=decided)
        return transport.launch(opener.program, release, shot)

    plan = ShotPlan(
        facts=_facts(program, how, opener),
        capabilities=harness.capabilities(release),
        launch=launch,
        make_run=lambda shot, spent: transport.make_run(release, shot, spent),
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


def sign_in_state(program: Program, how: Connection) -> SignIn:
    """Whether a user is signed in, before a process is started that could report it."""
    if program.sign_in is None:
        return SignIn()
    env = {**os.environ, **how.env, **how.keys(program.key_names)}
    return program.sign_in.read(env, [_content(path) for path in program.sign_in.files(env)])


def _content(path: str) -> bytes:
    """The content of a file of the user's; empty if it is not there."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


@contextmanager
def _schema_file(schema: Mapping[str, Any]) -> Generator[str]:
    """The schema in a file, as long as it is needed."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        path = Path(folder, "schema.json")
        path.write_text(json.dumps(schema), encoding="utf-8")
        yield str(path)
