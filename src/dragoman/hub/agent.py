"""The agents that a hub's sessions share, one for each harness: connected to when needed, and again when lost.

A connection lives in a task of its own, because the caller that needed it first may be gone before it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from dragoman.client.connection import Connection
from dragoman.client.opening import open_connection
from dragoman.drive.agent import Agent
from dragoman.drive.calling import Outcome
from dragoman.drive.process.programs import find_command
from dragoman.drive.tasks import Tasks
from dragoman.errors import AgentNotFound, DragomanError, ProcessExited, UsageError
from dragoman.harnesses import driven, driven_harness
from dragoman.harnesses.contract.capabilities import (
    Capabilities,
    resolve_access,
    resolve_asking,
)
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.transport import SessionTransport
from dragoman.hub.journal import ConnectionLog
from dragoman.hub.live.source import NO_SOURCE, Source
from dragoman.hub.shapes import HarnessInfo
from dragoman.model.messages import Message


class AgentConnection:
    """``await get()`` is the agent of one harness, ready to work."""

    def __init__(
        self,
        harness: Harness,
        how: Connection,
        tasks: Tasks,
        publish: Callable[[Message, Source], None],
    ) -> None:
        self.harness = harness
        self._how = how
        self._tasks = tasks
        self._publish = publish
        self._agent: Agent | None = None
        self._task: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._connecting = asyncio.Lock()
        self._is_closed = False
        self.problem: str | None = None
        """Why it is not there."""

    @property
    def agent(self) -> Agent | None:
        """The agent, if there is one; its restarts may have failed."""
        return self._agent

    @property
    def capabilities(self) -> Capabilities:
        """What the connected release offers; before, what the newest known one does."""
        return self._agent.capabilities if self._agent is not None else self._offered

    @property
    def _offered(self) -> Capabilities:
        return self.harness.capabilities(None)

    def access(self, requested: str | None) -> str:
        """The native access value. Raises :class:`UsageError`."""
        return resolve_access(self.capabilities, requested).value

    def asking(self, requested: Any) -> Any:
        """The native approval mode. Raises :class:`UsageError`."""
        if requested is not None and not isinstance(requested, str):
            return requested
        chosen = resolve_asking(self.capabilities, requested)
        return chosen.value if chosen is not None else None

    def info(self) -> HarnessInfo:
        """Its state and choices, for people."""
        agent, offered = self._agent, self.capabilities
        facts = agent.facts if agent is not None else None
        problem = self.problem
        if agent is None and problem is None:
            problem = self._missing()
        state = agent.state if agent is not None else "failed" if self.problem else "stopped"
        return HarnessInfo.offering(
            offered,
            name=self.harness.name,
            title=self.harness.title,
            version=facts.version if facts is not None else None,
            state=state,
            problem=problem,
            signed_in=facts.signed_in if facts is not None else None,
            needs_sign_in=facts.needs_sign_in if facts is not None else False,
        )

    def _missing(self) -> str | None:
        """Why its program cannot be started, if it is not on this machine."""
        program = self.harness.program
        if program is None or self._how.ssh is not None or self._how.address is not None:
            return None
        try:
            find_command(program, self._how.command)
        except AgentNotFound as problem:
            return str(problem)
        return None

    async def get(self) -> Agent:
        """Raises :class:`dragoman.errors.AgentError` when it cannot be reached."""
        async with self._connecting:
            agent = self._agent
            if agent is not None and agent.state not in ("failed", "stopped"):
                return agent
            await self._drop()
            if self._is_closed:
                raise ProcessExited("the hub is closed")
            ready: asyncio.Future[Agent] = asyncio.get_running_loop().create_future()
            self._leave.clear()
            self._task = self._tasks.create_task(self._hold(ready))
            # The caller may be gone by then; the next one finds the agent.
            return await asyncio.shield(ready)

    async def _hold(self, ready: asyncio.Future[Agent]) -> None:
        with Outcome() as outcome:
            async with open_connection(self.harness.name, self._how) as agent:
                assert isinstance(agent, Agent)
                agent.observe(lambda message: self._publish(message, _source(agent)))
                self._agent, self.problem = agent, None
                if not ready.done():
                    ready.set_result(agent)
                await self._leave.wait()
        if outcome.error is not None:
            self.problem = outcome.problem
            if not ready.done():
                error = outcome.error
                known = isinstance(error, DragomanError)
                ready.set_exception(error if known else ProcessExited(str(outcome.problem)))
                ready.exception()  # perhaps no caller waits any more

    async def _drop(self) -> None:
        task, self._task = self._task, None
        self._agent = None
        if task is not None:
            self._leave.set()
            await asyncio.wait((task,))

    async def close(self) -> None:
        self._is_closed = True
        async with self._connecting:
            await self._drop()


class AgentConnections:
    """Every harness that can be driven, each with its agent."""

    def __init__(
        self, default: str | None, make: Callable[[Harness, bool], AgentConnection]
    ) -> None:
        """``make`` is called with a harness, and whether it is the default one."""
        first = driven_harness(default)
        others = [each for each in driven() if each.name != first.name and _has_sessions(each)]
        self.default = make(first, True)
        self._all = {first.name: self.default}
        self._all |= {each.name: make(each, False) for each in others}

    def of(self, name: str | None) -> AgentConnection:
        """That of the harness; the default one without a name. Raises :class:`UsageError`."""
        if not name:
            return self.default
        found = self._all.get(name)
        if found is None:
            known = ", ".join(self._all)
            raise UsageError(f"there is no harness {name!r} to drive; known: {known}")
        return found

    def all(self) -> list[AgentConnection]:
        """The default one first."""
        return list(self._all.values())

    async def close(self) -> None:
        for each in self.all():
            await each.close()


def session_transport(harness: Harness, name: str | None) -> str:
    """The transport for a hub: one that carries sessions. Raises :class:`UsageError`."""
    fitting = [each.name for each in harness.transports if isinstance(each, SessionTransport)]
    if name is not None and name in fitting:
        return name
    if not fitting:
        raise UsageError(f"{harness.title} has no transport that carries sessions")
    return fitting[0]


def _has_sessions(harness: Harness) -> bool:
    return any(isinstance(each, SessionTransport) for each in harness.transports)


def _source(agent: Agent) -> Source:
    """The connection that the message came from which is being passed on."""
    return agent.source.source if isinstance(agent.source, ConnectionLog) else NO_SOURCE
