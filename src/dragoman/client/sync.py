"""The driver for scripts and notebooks: the same words, without ``await``.

    with dragoman.sync.connect("codex") as codex:
        session = codex.start(cwd=repo)
        for message in session.run("Fix the failing test"):
            ...

Each call is carried out by the loop of one background thread; Ctrl-C reaches the caller, and leaving
the ``with`` ends every process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from dragoman.client.connection import Connection, LineKeeper, Mode
from dragoman.client.loop_thread import LoopThread
from dragoman.client.opening import Driver, DriverSession, open_connection
from dragoman.client.reaching import named_agent
from dragoman.drive.approvals.policy import Policy, ask_always
from dragoman.drive.approvals.queue import DEADLINE_SECONDS, Ask
from dragoman.drive.links.ssh import Remote
from dragoman.drive.process.session_commands import RunningCommand
from dragoman.drive.restarting import Restarts
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.turns.running import Result, RunningTurn
from dragoman.model.answers import AccountLimits, AgentSession, AgentSessions, Model
from dragoman.model.intents import ServerFacts, SessionFacts
from dragoman.model.messages import Message


class SyncTurn:
    """Iterate over it for the messages, or ask for the :meth:`result`."""

    def __init__(self, thread: LoopThread[Driver], turn: RunningTurn) -> None:
        self._thread = thread
        self._turn = turn
        self._messages: list[Message] = []

    def __iter__(self) -> Iterator[Message]:
        """The messages, from where it was left off, be it by Ctrl-C."""
        for message in self._thread.iterate(aiter(self._turn)):
            self._messages.append(message)
            yield message

    def result(self) -> Result:
        """What it came to; waits for the end."""
        for _ in self:
            continue
        return self._turn.result(self._messages)


class SyncSession:
    """One conversation with an agent."""

    def __init__(self, thread: LoopThread[Driver], session: DriverSession) -> None:
        self._thread = thread
        self._session = session

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def facts(self) -> SessionFacts:
        return self._session.facts

    @property
    def running(self) -> bool:
        return self._session.running

    def run(
        self,
        text: str,
        *,
        images: Sequence[str | os.PathLike[str]] = (),
        model: str | None = None,
        effort: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        sandbox_policy: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
    ) -> SyncTurn:
        """Start a turn with this prompt. The options are those of :meth:`Session.run`."""

        async def begin() -> RunningTurn:
            return self._session.run(
                text,
                images=images,
                model=model,
                effort=effort,
                cwd=cwd,
                sandbox_policy=sandbox_policy,
                output_schema=output_schema,
            )

        return SyncTurn(self._thread, self._thread.call(begin()))

    def compact(self) -> SyncTurn:
        async def begin() -> RunningTurn:
            return self._session.compact()

        return SyncTurn(self._thread, self._thread.call(begin()))

    def review(self, target: Mapping[str, Any] | None = None) -> SyncTurn:
        async def begin() -> RunningTurn:
            return self._session.review(target)

        return SyncTurn(self._thread, self._thread.call(begin()))

    def steer(self, text: str, *, images: Sequence[str | os.PathLike[str]] = ()) -> None:
        self._thread.call(self._session.steer(text, images=images))

    def interrupt(self, *, keep_commands: bool = False) -> list[RunningCommand]:
        """Stop the turn and, unless they are kept, its commands; which were stopped."""
        return self._thread.call(self._session.interrupt(keep_commands=keep_commands))

    def stop_commands(self) -> list[RunningCommand]:
        """Stop the commands that this session has running; which they were."""
        return self._thread.call(self._session.stop_commands())

    def fork(self) -> SyncSession:
        return SyncSession(self._thread, self._thread.call(self._session.fork()))

    def rename(self, name: str) -> None:
        self._thread.call(self._session.rename(name))

    def archive(self, *, archived: bool = True) -> None:
        self._thread.call(self._session.archive(archived=archived))

    def read(self, *, turns: bool = True) -> AgentSession:
        return self._thread.call(self._session.read(turns=turns))

    def close(self, *, keep_commands: bool = False) -> list[RunningCommand]:
        """End it, with its turn and its commands; see :meth:`dragoman.drive.session.Session.close`."""
        return self._thread.call(self._session.close(keep_commands=keep_commands))


class SyncAgent:
    """An agent that is there to work."""

    def __init__(self, thread: LoopThread[Driver]) -> None:
        self._thread = thread
        self._agent = thread.value

    @property
    def state(self) -> str:
        return self._agent.state

    @property
    def facts(self) -> ServerFacts | None:
        return self._agent.facts

    def start(
        self,
        *,
        cwd: str | os.PathLike[str],
        model: str | None = None,
        access: str | None = None,
        asking: str | dict[str, Any] | None = None,
        sandbox: str | None = None,
        approvals: str | dict[str, Any] | None = None,
        tools: Iterable[Any] = (),
        resume: str | None = None,
        or_new: bool = False,
        fork: str | None = None,
        ephemeral: bool = False,
        instructions: str | None = None,
        personality: str | None = None,
        config: dict[str, Any] | None = None,
        profile: str | None = None,
        add_dirs: Sequence[str | os.PathLike[str]] = (),
    ) -> SyncSession:
        """Start a session. The options are those of :meth:`Agent.start`."""
        opening = self._agent.start(
            cwd=cwd,
            model=model,
            access=access,
            asking=asking,
            sandbox=sandbox,
            approvals=approvals,
            tools=tools,
            resume=resume,
            or_new=or_new,
            fork=fork,
            ephemeral=ephemeral,
            instructions=instructions,
            personality=personality,
            config=config,
            profile=profile,
            add_dirs=add_dirs,
        )
        return SyncSession(self._thread, self._thread.call(opening))

    def saved_sessions(self, *, limit: int = 50, archived: bool = False) -> AgentSessions:
        return self._thread.call(self._agent.saved_sessions(limit=limit, archived=archived))

    def models(self) -> list[Model]:
        return self._thread.call(self._agent.models())

    def rate_limits(self) -> AccountLimits:
        return self._thread.call(self._agent.rate_limits())

    def close(self) -> None:
        self._thread.close()

    def __enter__(self) -> SyncAgent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def connect(
    harness: str | None = None,
    *,
    transport: str | None = None,
    mode: Mode | None = None,
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
    agent: str | None = None,
) -> SyncAgent:
    """As :func:`dragoman.connect`, for use with ``with``."""
    harness, command = named_agent(agent, harness, command)
    how = Connection(
        transport=transport,
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
    return SyncAgent(LoopThread(lambda: open_connection(harness, how)))


def run(
    harness: str | None,
    prompt: str,
    *,
    cwd: str | os.PathLike[str] = ".",
    check: bool = False,
    transport: str | None = None,
    mode: Mode | None = None,
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
    agent: str | None = None,
    model: str | None = None,
    access: str | None = None,
    asking: str | dict[str, Any] | None = None,
    sandbox: str | None = None,
    approvals: str | dict[str, Any] | None = None,
    tools: Iterable[Any] = (),
    resume: str | None = None,
    or_new: bool = False,
    fork: str | None = None,
    ephemeral: bool = False,
    instructions: str | None = None,
    personality: str | None = None,
    config: dict[str, Any] | None = None,
    profile: str | None = None,
    add_dirs: Sequence[str | os.PathLike[str]] = (),
    images: Sequence[str | os.PathLike[str]] = (),
    effort: str | None = None,
    sandbox_policy: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    session: Mapping[str, Any] | None = None,
    turn: Mapping[str, Any] | None = None,
) -> Result:
    """Give an agent one prompt and wait for the answer.

    The options are those of :func:`dragoman.connect`, :meth:`Agent.start` and :meth:`Session.run`. With
    ``check``, anything but a completed turn is raised. ``session`` and ``turn`` are the older way to pass
    options of :meth:`Agent.start` and :meth:`Session.run`.
    """
    opening: dict[str, Any] = {
        "cwd": cwd,
        "model": model,
        "access": access,
        "asking": asking,
        "sandbox": sandbox,
        "approvals": approvals,
        "tools": tools,
        "resume": resume,
        "or_new": or_new,
        "fork": fork,
        "ephemeral": ephemeral,
        "instructions": instructions,
        "personality": personality,
        "config": config,
        "profile": profile,
        "add_dirs": add_dirs,
        **(session or {}),
    }
    asked: dict[str, Any] = {
        "images": images,
        "effort": effort,
        "sandbox_policy": sandbox_policy,
        "output_schema": output_schema,
        **(turn or {}),
    }
    connected = connect(
        harness,
        agent=agent,
        transport=transport,
        mode=mode,
        command=command,
        env=env,
        api_key=api_key,
        policy=policy,
        ask=ask,
        ask_seconds=ask_seconds,
        timeouts=timeouts,
        restarts=restarts,
        journal=journal,
        ssh=ssh,
        address=address,
        token=token,
        client=client,
    )
    with connected as agent_:
        result = agent_.start(**opening).run(prompt, **asked).result()
    return result.check() if check else result
