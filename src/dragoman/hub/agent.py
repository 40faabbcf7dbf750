"""The agent that all sessions of a hub share: connected to when it is needed, and again when it was lost.

The connection lives in a task of its own, because whoever needs it first may be gone before it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dragoman.client.connecting import open_connection
from dragoman.client.connection import Connection
from dragoman.drive.agent import Agent
from dragoman.drive.calling import Outcome
from dragoman.drive.tasks import Tasks
from dragoman.errors import DragomanError, ProcessExited, UsageError
from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.harness import Harness
from dragoman.hub.shapes import HarnessInfo
from dragoman.model.messages import Message


class AgentHolder:
    """``await get()`` is the agent, there to work."""

    def __init__(
        self,
        harness: str | None,
        how: Connection,
        tasks: Tasks,
        hear: Callable[[Message], None],
    ) -> None:
        self.harness = _harness(harness)
        self.how = how
        self._tasks = tasks
        self._hear = hear
        self._agent: Agent | None = None
        self._task: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._connecting = asyncio.Lock()
        self._is_closed = False
        self.problem: str | None = None
        """Why it is not there."""

    @property
    def agent(self) -> Agent | None:
        """The agent, if there is one; it may have been given up."""
        return self._agent

    def info(self) -> HarnessInfo:
        """How it stands, for people."""
        agent = self._agent
        facts = agent.facts if agent is not None else None
        return HarnessInfo(
            name=self.harness.name,
            title=self.harness.title,
            version=facts.version if facts is not None else None,
            state=agent.state if agent is not None else "failed",
            problem=self.problem,
            signed_in=facts.signed_in if facts is not None else None,
            needs_sign_in=facts.needs_sign_in if facts is not None else False,
            approval_modes=self._approval_modes(facts.version if facts is not None else None),
        )

    def _approval_modes(self, version: str | None) -> tuple[str, ...]:
        driving = self.harness.driving
        assert driving is not None
        return driving.approval_modes(driving.parse_release(version) if version else None)

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
            # Whoever asked may be gone by then; the next one finds it there.
            return await asyncio.shield(ready)

    async def _hold(self, ready: asyncio.Future[Agent]) -> None:
        with Outcome() as outcome:
            async with open_connection(self.harness.name, self.how) as agent:
                assert isinstance(agent, Agent)
                agent.observe(self._hear)
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
                ready.exception()  # it may be that nobody waits any more

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


def _harness(name: str | None) -> Harness:
    for each in HARNESSES:
        if each.driving is not None and name in (None, each.name):
            return each
    known = ", ".join(each.name for each in HARNESSES if each.driving is not None)
    raise UsageError(f"there is no harness {name!r} to drive; known: {known}")
