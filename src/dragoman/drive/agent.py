"""An agent that is there to work: one process, or a server elsewhere, and the sessions on it.

The process is kept alive: when it is lost it is started again, after a while, and every session is
resumed on the new one. Messages are routed to the session they belong to; those of an agent that
works for another one go to the session of the one it works for.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from dragoman.drive.calling import Outcome as CallOutcome
from dragoman.drive.exchange import Exchange, Keeper
from dragoman.drive.links.link import Exit, OpenLink
from dragoman.drive.process.session_commands import Finder
from dragoman.drive.restarting import Restarts, State, Tries
from dragoman.drive.resuming import given_up, resume_all
from dragoman.drive.router import Clerk
from dragoman.drive.session import Session
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.tools.toolbox import Toolbox
from dragoman.drive.turns import Turn
from dragoman.drive.workspaces import CheckImages, check_images, check_workspace
from dragoman.errors import AgentError, DragomanError, ProcessExited, Unsupported
from dragoman.harnesses.contract.driving import Conversation
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalRequested,
    Delta,
    Message,
    Outcome,
    SessionStarted,
    TurnError,
)

_log = logging.getLogger(__name__)
_NOTICES_KEPT = 200
_GONE = TurnError(kind="port_exit", message="the agent's process ended", retryable=True)


def no_profile(name: str) -> dict[str, Any]:
    """For an agent whose profiles cannot be read from here."""
    raise Unsupported("a profile", needs="an agent on this machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How an agent is reached, and how it is to be treated."""

    greet: intents.Greet
    open_link: Callable[[], OpenLink]
    """A new way to reach it, for each start."""
    make_conversation: Callable[[], Conversation]
    timeouts: Timeouts = field(default_factory=Timeouts)
    restarts: Restarts = field(default_factory=Restarts)
    journal: Keeper | None = None
    session_variable: str | None = None
    """Set in the environment of each command to its session, where processes can be looked at."""
    check_workspace: Callable[[str | os.PathLike[str]], str] = check_workspace
    """For an agent on another machine: its directories are not ours to look at."""
    check_images: CheckImages = check_images
    profile: Callable[[str], dict[str, Any]] = no_profile
    """The settings of a profile, by its name."""


class Agent:
    """What ``dragoman.connect`` gives: start sessions on it. Close it, and all its processes are gone."""

    def __init__(self, plan: Plan, clerk: Clerk) -> None:
        self._plan = plan
        self._clerk = clerk
        self.timeouts = plan.timeouts
        self.state: State = "stopped"
        self.facts: intents.ServerFacts | None = None
        self.notices: deque[Message] = deque(maxlen=_NOTICES_KEPT)
        """What was said in no session that is open; the newest."""
        self.unstopped: list[intents.Interrupt] = []
        """Turns that are over for us, and perhaps not for the agent."""
        self.cut_off: list[tuple[Session, Turn]] = []
        """Turns that were interrupted without us, whose commands are still to be stopped."""
        self.exchange: Exchange | None = None
        self._sessions: dict[str, Session] = {}
        self._observers: list[Callable[[Message], None]] = []
        self._changed = asyncio.Event()
        self._lost = asyncio.Event()
        self._closing = False
        self._problem: DragomanError | None = None

    # Sessions.

    async def start(
        self,
        *,
        cwd: str | os.PathLike[str],
        model: str | None = None,
        sandbox: intents.Sandbox = "workspace-write",
        approvals: intents.ApprovalMode | dict[str, Any] = "on-request",
        tools: Iterable[Any] = (),
        resume: str | None = None,
        or_new: bool = False,
        ephemeral: bool = False,
        instructions: str | None = None,
        personality: str | None = None,
        config: dict[str, Any] | None = None,
        profile: str | None = None,
        add_dirs: Sequence[str | os.PathLike[str]] = (),
    ) -> Session:
        """Start a session in this directory, or resume one."""
        settings = self._plan.profile(profile) if profile is not None else {}
        toolbox = Toolbox(tools)
        opening = intents.OpenSession(
            cwd=self._plan.check_workspace(cwd),
            model=model,
            sandbox=sandbox,
            approvals=approvals,
            tools=toolbox.specs(),
            resume=resume,
            or_new=or_new,
            ephemeral=ephemeral,
            instructions=instructions,
            personality=personality,
            config={**settings, **(config or {})},
            add_dirs=[self._plan.check_workspace(each) for each in add_dirs],
        )
        return await self.open(opening, toolbox)

    async def open(self, opening: intents.OpenSession, toolbox: Toolbox) -> Session:
        """A session as ``opening`` describes it."""
        session = Session(self, await self.ask(opening), opening, toolbox)
        self.know(session.id, session)
        for message in [m for m in self.notices if m.session_id == session.id]:
            self.notices.remove(message)
            session.tell(message)
        return session

    def check_images(self, images: Sequence[str | os.PathLike[str]]) -> list[str]:
        """The images as the agent can open them. Raises :class:`dragoman.errors.UsageError`."""
        return self._plan.check_images(images)

    def check_workspace(self, cwd: str | os.PathLike[str]) -> str:
        """The directory as the agent can open it. Raises :class:`dragoman.errors.InvalidWorkspace`."""
        return self._plan.check_workspace(cwd)

    @property
    def pid(self) -> int | None:
        """The agent's process, if it is there and on this machine."""
        link = self.exchange.link if self.exchange is not None else None
        return link.pid if link is not None else None

    @property
    def sessions(self) -> list[Session]:
        """The sessions that are open."""
        return list(dict.fromkeys(self._sessions.values()))

    def know(self, session_id: str, session: Session) -> None:
        """What is said under this id is for that session."""
        self._sessions[session_id] = session

    def forget(self, session: Session) -> None:
        for name in [name for name, known in self._sessions.items() if known is session]:
            del self._sessions[name]

    # Questions to the harness.

    async def saved_sessions(self, *, limit: int = 50, archived: bool = False) -> Any:
        """The sessions that the harness knows of, newest first."""
        return await self.ask(intents.ListSessions(limit=limit, archived=archived))

    async def models(self) -> Any:
        return await self.ask(intents.ListModels())

    async def rate_limits(self) -> Any:
        return await self.ask(intents.ReadRateLimits())

    async def ask(self, intent: intents.Intent, *, seconds: float | None = None) -> Any:
        """Submit an intent and wait for what comes of it; also over a restart, with a bound."""
        seconds = self.timeouts.read if seconds is None else seconds
        exchange = await self.settled(seconds)
        return await exchange.ask(intent, seconds=seconds)

    async def settled(self, seconds: float) -> Exchange:
        """Wait until it is there to be asked. Raises when it is not, and not to be expected either."""
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

    def observe(self, observer: Callable[[Message], None]) -> None:
        """Call this with every message of every session, as it comes. It must be quick."""
        self._observers.append(observer)

    # What comes.

    def tell(self, messages: list[Message]) -> None:
        """Pass messages on to those they are for."""
        for message in messages:
            for observer in self._observers:
                with CallOutcome() as outcome:
                    observer(message)
                if outcome.error is not None:
                    _log.error("an observer failed", exc_info=outcome.error)
            session = self._sessions.get(message.session_id or "") or self._adopt(message)
            if session is None:
                self.notices.append(message)
                if isinstance(message, ApprovalRequested):
                    self._clerk.refuse(message, self)
                continue
            session.tell(message)
            if not isinstance(message, Delta):
                self._clerk.see(message, session, self)

    def _adopt(self, message: Message) -> Session | None:
        """The session that the agent who speaks works for, if it is one of ours."""
        if not isinstance(message, SessionStarted) or message.parent_session_id is None:
            return None
        parent = self._sessions.get(message.parent_session_id)
        if parent is not None and message.session_id is not None:
            self.know(message.session_id, parent)
            parent.members.add(message.session_id)
        return parent

    def submit(self, intent: intents.Intent) -> None:
        """Submit an intent whose answer nobody waits for."""
        if self.exchange is not None:
            self.exchange.submit(intent)

    def end_turn(self, session: Session, outcome: Outcome, error: TurnError | None = None) -> None:
        """End a session's turn ourselves."""
        if self.exchange is not None:
            self.exchange.end_turn(session.id, outcome, error)
        session.end_turns(outcome, error)

    def give_up(self, session_id: str, turn_id: str | None) -> None:
        """We have ended this turn; the agent is told to, until it does. Without an id it is not there yet."""
        if turn_id is not None:
            intent = intents.Interrupt(session_id=session_id, turn_id=turn_id)
            self.submit(intent)
            self.unstopped.append(intent)
            if (session := self._sessions.get(session_id)) is not None:
                session.given_up.add(turn_id)

    # Life.

    async def begin(self) -> None:
        """Start it. Raises when that fails; later losses are made good by :meth:`keep_alive`."""
        self._set("starting")
        try:
            await self._connect()
        except BaseException:
            self._set("failed")
            raise
        self._set("running")

    async def keep_alive(self) -> None:
        """Start the agent again whenever it is lost, until it is closed or given up."""
        loop = asyncio.get_running_loop()
        tries = Tries(self._plan.restarts, loop.time())
        while True:
            await self._lost.wait()
            if self._closing:
                return
            pause = tries.failed(loop.time())
            if self.exchange is not None:
                await self.exchange.close()  # what the lost one had started may still run
            if pause is None:
                self._problem = given_up(self._problem, tries.failures - 1)
                self._set("failed")
                return
            self._set("restarting")
            await asyncio.sleep(pause)
            if self._closing:
                return
            try:
                await resume_all(self, await self._connect())
            except (AgentError, Unsupported) as problem:
                self._problem = problem
                self._lost.set()
                continue
            tries.began(loop.time())
            self._problem = None
            self._set("running")

    async def close(self) -> Exit | None:
        """End everything, turns that are under way included. Bounded; nobody is left behind."""
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
        plan = self._plan
        exchange = Exchange(
            plan.make_conversation(),
            self.tell,
            lambda request: self._clerk.run_tool(request, self._sessions, self),
            self._on_lost,
            plan.journal,
        )
        self.exchange = exchange
        self._lost.clear()
        async with AsyncExitStack() as undo:
            # Not only what is still ours: it may be opened after we were closed.
            undo.push_async_callback(lambda: asyncio.shield(exchange.close()))
            await exchange.open(plan.open_link())
            self.facts = await exchange.ask(plan.greet, seconds=plan.timeouts.read)
            if self._closing:
                raise ProcessExited("the agent is closed")
            undo.pop_all()
        return exchange

    def _on_lost(self, exchange: Exchange) -> None:
        if exchange is self.exchange:
            self._problem = exchange.gone()
            self._clerk.forget_all()
            self.unstopped.clear()
            for session in self.sessions:
                session.given_up.clear()
                session.end_turns("failed", _GONE, begun=True)
            if self.state == "running":
                self._set("restarting" if self._plan.restarts.at_most else "failed")
            self._lost.set()

    def _set(self, state: State) -> None:
        self.state = state
        self._changed.set()
