"""A process that works for an agent, or a server elsewhere: started, asked, and started again when it is lost.

An agent has one worker for all sessions, or one for each; the transport decides which. Either way the
sessions of a worker that is lost are resumed on the new process.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import msgspec

from dragoman.drive.links.exchange import Exchange
from dragoman.drive.process.session_commands import Finder
from dragoman.drive.restarting import State, Tries
from dragoman.drive.resuming import (
    given_up,
    lose_ephemeral,
    reopening,
    resume_all,
    wait_to_resume,
)
from dragoman.errors import AgentError, DragomanError, ProcessExited, Unsupported
from dragoman.model import intents
from dragoman.model.messages import Outcome, TurnError

if TYPE_CHECKING:
    from dragoman.drive.agent import Agent
    from dragoman.drive.links.link import Exit
    from dragoman.drive.session import Session

_GONE: Final = TurnError(kind="port_exit", message="the agent's process ended", retryable=True)


class Worker:
    """One process, kept alive until it is closed."""

    def __init__(self, agent: Agent, opening: intents.OpenSession | None = None) -> None:
        """``opening`` is the session it is for, where each has a process of its own."""
        self._agent = agent
        self._plan = agent.plan
        self.opening = _with_id(opening) if opening is not None else None
        self.state: State = "stopped"
        self.facts: intents.ServerFacts | None = None
        self.exchange: Exchange | None = None
        self.unstopped: list[intents.Interrupt] = []
        """Turns that are over for us, and perhaps not for the agent."""
        self._changed = asyncio.Event()
        self._lost = asyncio.Event()
        self._closing = False
        self._problem: DragomanError | None = None

    @property
    def sessions(self) -> list[Session]:
        """The sessions that are open on it."""
        return [session for session in self._agent.sessions if session.worker is self]

    @property
    def pid(self) -> int | None:
        """The process, if it is there and on this machine."""
        link = self.exchange.link if self.exchange is not None else None
        return link.pid if link is not None else None

    def processes_of(self, session: Session) -> Finder | None:
        """How the processes of a session's commands are found; None if they cannot be."""
        link = self.exchange.link if self.exchange is not None else None
        variable = self._plan.session_variable
        if link is None or link.pid is None or variable is None or not os.path.exists("/proc/self"):
            return None
        return Finder(
            link.pid,
            variable,
            session.members,
            session.commands_seen,
            [other.commands_seen for other in self.sessions if other is not session],
            has_supervisor=link.is_supervised,
        )

    # Asking.

    async def ask(self, intent: intents.Intent, *, seconds: float | None = None) -> Any:
        """Submit an intent and wait for its answer; also over a restart, with a bound."""
        seconds = self._plan.timeouts.read if seconds is None else seconds
        exchange = await self.settled(seconds)
        return await exchange.ask(intent, seconds=seconds)

    async def settled(self, seconds: float) -> Exchange:
        """Wait until it can be asked. Raises when it cannot, and will not soon."""
        try:
            async with asyncio.timeout(seconds):
                while self.state in ("starting", "restarting"):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise ProcessExited(f"the agent is still {self.state}") from None
        if self.exchange is None or self.state != "running":
            raise self._problem or ProcessExited(f"the agent is {self.state}")
        return self.exchange

    def submit(self, intent: intents.Intent) -> None:
        """Submit an intent without waiting for its answer."""
        if self.exchange is not None:
            self.exchange.submit(intent)

    def end_turn(self, session: Session, outcome: Outcome, error: TurnError | None = None) -> None:
        """End a session's turn ourselves."""
        if self.exchange is not None:
            self.exchange.end_turn(session.id, outcome, error)
        session.end_turns(outcome, error)

    def give_up(self, session: Session, turn_id: str | None) -> None:
        """We have ended this turn; the agent is asked to stop it until it does. Without an id it does not know it."""
        if turn_id is not None:
            intent = intents.Interrupt(session_id=session.id, turn_id=turn_id)
            self.submit(intent)
            self.unstopped.append(intent)
            session.given_up.add(turn_id)

    # Life.

    async def start(self) -> None:
        """Start it. Raises when that fails; later losses are made good by :meth:`keep_alive`."""
        self._set("starting")
        try:
            await self._connect()
        except BaseException:
            self._set("failed")
            raise
        self._set("running")

    async def keep_alive(self) -> None:
        """Start it again whenever it is lost, until it is closed or given up."""
        loop = asyncio.get_running_loop()
        tries = Tries(self._plan.restarts, loop.time())
        while True:
            await self._lost.wait()
            if self._closing:
                return
            pause = tries.failed(loop.time())
            if self.exchange is not None:
                await self.exchange.close()  # what the lost process had started may still run
            if pause is None:
                self._problem = given_up(self._problem, tries.failures - 1)
                self._set("failed")
                return
            self._set("restarting")
            await asyncio.sleep(pause)
            if self._closing:
                return
            try:
                lose_ephemeral(self._agent, self)
                if self.opening is not None and not self.sessions:
                    await self.close()
                    return
                await resume_all(self._agent, self, await self._connect())
            except (AgentError, Unsupported) as problem:
                self._problem = problem
                self._lost.set()
                continue
            tries.began(loop.time())
            self._problem = None
            self._set("running")

    async def close(self) -> Exit | None:
        """End everything, turns that are under way included. Bounded; leaves no process behind."""
        self._closing = True
        self._lost.set()
        for session in self.sessions:
            if session.running:
                self.end_turn(session, "interrupted")
        exchange, self.exchange = self.exchange, None
        ended = await exchange.close() if exchange is not None else None
        self._set("stopped")
        return ended

    async def _connect(self) -> Exchange:
        plan, agent = self._plan, self._agent
        if self.opening is not None and (sessions := self.sessions):
            # Its only session: the new process is launched to continue it.
            self.opening = _with_id(reopening(sessions[0]))
        await wait_to_resume(agent, self.opening)
        journal = plan.open_journal()
        exchange = Exchange(
            plan.make_conversation(),
            lambda messages: agent.publish(messages, self, journal),
            lambda request: agent.run_tool(request, self),
            self._on_lost,
            journal,
        )
        self.exchange = exchange
        self._lost.clear()
        async with AsyncExitStack() as undo:
            # Not only what is still ours: it may be opened after we were closed.
            undo.push_async_callback(lambda: asyncio.shield(exchange.close()))
            await exchange.open(plan.open_link(self.opening))
            self.facts = await exchange.ask(plan.greet, seconds=plan.timeouts.read)
            if self._closing:
                raise ProcessExited("the agent is closed")
            undo.pop_all()
        if self.facts is not None:
            agent.facts = self.facts
        return exchange

    def _on_lost(self, exchange: Exchange) -> None:
        if exchange is self.exchange:
            self._problem = exchange.gone()
            gone = _gone(exchange)
            self._agent.withdraw(self)
            self.unstopped.clear()
            for session in self.sessions:
                session.given_up.clear()
                session.end_turns("failed", gone, taken_up=True)
            if self.state == "running":
                self._set("restarting" if self._plan.restarts.at_most else "failed")
            self._lost.set()

    def _set(self, state: State) -> None:
        self.state = state
        self._changed.set()


def _gone(exchange: Exchange) -> TurnError:
    if exchange.fault is None:
        return _GONE
    message = f"the conversation with the agent failed: {exchange.fault}"
    return msgspec.structs.replace(_GONE, message=message)


def _with_id(opening: intents.OpenSession) -> intents.OpenSession:
    """The opening with an id for a new session or branch, which the harness may use."""
    if opening.resume is not None:
        return msgspec.structs.replace(opening, session_id=None)
    return msgspec.structs.replace(opening, session_id=str(uuid4()))
