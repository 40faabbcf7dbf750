"""An agent from Python: the sessions on it, and the processes that work on them.

Messages are routed to the session they belong to; those of a sub-agent go to the session of the agent
that it works for. How many processes there are is the transport's matter: one for all sessions, or one
for each. :class:`~dragoman.drive.worker.Worker` keeps a process alive.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from dragoman.drive.approvals.queue import ApprovalQueue
from dragoman.drive.calling import Outcome as CallOutcome
from dragoman.drive.links.exchange import Exchange, Keeper
from dragoman.drive.links.link import Exit, OpenLink
from dragoman.drive.opening import check_access, open_or_new
from dragoman.drive.restarting import Restarts, State
from dragoman.drive.router import RequestRouter
from dragoman.drive.session import Session
from dragoman.drive.tasks import Tasks
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.tools.toolbox import Toolbox
from dragoman.drive.turns.running import RunningTurn
from dragoman.drive.worker import Worker
from dragoman.drive.workspaces import CheckImages, check_images, check_workspace, no_profile
from dragoman.errors import AuthorityMismatch, ProcessExited
from dragoman.harnesses.contract.capabilities import (
    Capabilities,
    resolve_access,
    resolve_asking,
)
from dragoman.harnesses.contract.conversation import Conversation, ToolRequest
from dragoman.model import intents
from dragoman.model.answers import AccountLimits, AgentSessions, Model
from dragoman.model.messages import (
    ApprovalRequested,
    Delta,
    Message,
    Notice,
    Outcome,
    SessionStarted,
    TurnError,
)

_log = logging.getLogger(__name__)
_NOTICES_KEPT = 200


def _at_once(_session_id: str) -> float:
    """For an agent whose sessions can be resumed at any time."""
    return 0.0


def no_journal() -> Keeper | None:
    """For an agent whose lines are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlan:
    """How an agent is reached, and how it is treated."""

    greet: intents.Greet
    open_link: Callable[[intents.OpenSession | None], OpenLink]
    """A new way to reach it, for each start; with the session it is for, if each has a process."""
    make_conversation: Callable[[], Conversation]
    capabilities: Callable[[str | None], Capabilities]
    """What a version can do."""
    facts: intents.ServerFacts | None = None
    """What is known before a process was greeted."""
    process_per_session: bool = False
    timeouts: Timeouts = field(default_factory=Timeouts)
    restarts: Restarts = field(default_factory=Restarts)
    resume_pause: Callable[[str], float] = _at_once
    """For how many seconds a session cannot be resumed yet …"""
    resume_reason: str = ""
    """… and why."""
    open_journal: Callable[[], Keeper | None] = no_journal
    """What keeps the lines of the next process."""
    session_variable: str | None = None
    """Set in the environment of each command to its session, where processes can be looked at."""
    check_workspace: Callable[[str | os.PathLike[str]], str] = check_workspace
    """For an agent on another machine: its directories are not ours to look at."""
    check_images: CheckImages = check_images
    profile: Callable[[str], dict[str, Any]] = no_profile
    """The settings of a profile, by its name."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The settings of every session, taken from the environment."""


class Agent:
    """What ``dragoman.connect`` gives: start sessions on it. Close it, and all its processes are gone."""

    def __init__(self, plan: AgentPlan, router: RequestRouter, tasks: Tasks) -> None:
        self.plan = plan
        self._router = router
        self._tasks = tasks
        self.timeouts = plan.timeouts
        self.facts: intents.ServerFacts | None = plan.facts
        self.notices: deque[Message] = deque(maxlen=_NOTICES_KEPT)
        """Messages of no session that is open; the newest."""
        self.cut_off: list[tuple[Session, RunningTurn]] = []
        """Turns that were interrupted without us, whose commands are still to be stopped."""
        self.source: Keeper | None = None
        """The journal of the process whose messages are being passed on."""
        self._shared: Worker | None = None
        """The one process for all sessions, unless each has its own."""
        self._workers: list[Worker] = []
        self._own_state: State = "stopped"
        self._sessions: dict[str, Session] = {}
        self._observers: list[Callable[[Message], None]] = []
        self._warned_of_access = False

    @property
    def state(self) -> State:
        """``running`` while it can be asked for something."""
        return self._shared.state if self._shared is not None else self._own_state

    @property
    def exchange(self) -> Exchange | None:
        """The conversation with its process; None where each session has its own."""
        return self._shared.exchange if self._shared is not None else None

    @property
    def workers(self) -> list[Worker]:
        """The processes that work for it."""
        return list(self._workers)

    @property
    def unstopped(self) -> list[intents.Interrupt]:
        """Turns that are over for us, and perhaps not for the agent."""
        return [intent for worker in self._workers for intent in worker.unstopped]

    @property
    def approvals(self) -> ApprovalQueue:
        """What waits for a decision."""
        return self._router.queue

    @property
    def capabilities(self) -> Capabilities:
        """What this release of it offers."""
        return self.plan.capabilities(self.facts.version if self.facts is not None else None)

    # Sessions.

    async def start(
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
    ) -> Session:
        """Start a session in this directory, resume one, or branch one off.

        ``access`` is a level (``read``, ``write``, ``full``) or a native value of the harness, ``asking``
        one of its approval modes; ``sandbox`` and ``approvals`` are other names for the two. Without
        them the harness's usual choices apply.
        """
        settings = self.plan.profile(profile) if profile is not None else {}
        toolbox = Toolbox(tools)
        offered = self.capabilities
        asking = asking if asking is not None else approvals
        if not isinstance(asking, dict):
            chosen = resolve_asking(offered, asking)
            asking = chosen.value if chosen is not None else None
        native = resolve_access(offered, access if access is not None else sandbox).value
        opening = intents.OpenSession(
            cwd=self.plan.check_workspace(cwd),
            model=model,
            access=native,
            asking=asking,
            sandbox=cast("intents.Sandbox", native),
            approvals=cast("intents.ApprovalMode", asking if asking is not None else "never"),
            tools=toolbox.specs(),
            resume=resume,
            or_new=or_new,
            fork=fork,
            ephemeral=ephemeral,
            instructions=instructions,
            personality=personality,
            config={**self.plan.settings, **settings, **(config or {})},
            add_dirs=[self.plan.check_workspace(each) for each in add_dirs],
        )
        return await self.open(opening, toolbox)

    async def open(self, opening: intents.OpenSession, toolbox: Toolbox) -> Session:
        """A session as ``opening`` describes it."""
        if self.plan.process_per_session:
            worker, facts = await open_or_new(self, opening)
        else:
            worker = self._worker()
            facts = await worker.ask(opening)
        try:
            check_access(self.capabilities, opening, facts)
        except AuthorityMismatch:
            await self.let_go(worker, facts.session_id)
            raise
        session = Session(self, worker, facts, worker.opening or opening, toolbox)
        self.know(session.id, session)
        for message in [m for m in self.notices if m.session_id == session.id]:
            self.notices.remove(message)
            session.on_message(message)
        if facts.access is None and not self._warned_of_access:
            self._warned_of_access = True
            text = "the agent does not confirm which access it applies"
            self.publish([Notice(session_id=session.id, level="warning", text=text)])
        return session

    async def hire(self, opening: intents.OpenSession | None) -> Worker:
        """Start another process. Raises :class:`AgentError`."""
        if self._own_state == "stopped":
            raise ProcessExited("the agent is closed")
        worker = Worker(self, opening)
        self._workers.append(worker)
        try:
            await worker.start()
        except BaseException:
            await self.dismiss(worker)
            raise
        return worker

    def keep(self, worker: Worker) -> None:
        """Start it again whenever it is lost, from now on."""
        self._tasks.create_task(worker.keep_alive())

    async def dismiss(self, worker: Worker) -> None:
        """End a process. Bounded."""
        await worker.close()
        if worker in self._workers and worker is not self._shared:
            self._workers.remove(worker)

    async def let_go(self, worker: Worker, session_id: str) -> None:
        """Stop listening to a session; if it has a process of its own, that ends."""
        if worker is not self._shared:
            await self.dismiss(worker)
        elif worker.state == "running":
            with suppress(ProcessExited):  # then it listens no more, either
                await worker.ask(intents.CloseSession(session_id=session_id))

    def check_images(self, images: Sequence[str | os.PathLike[str]]) -> list[str]:
        """The images as the agent can open them. Raises :class:`dragoman.errors.UsageError`."""
        return self.plan.check_images(images)

    def check_workspace(self, cwd: str | os.PathLike[str]) -> str:
        """The directory as the agent can open it. Raises :class:`dragoman.errors.InvalidWorkspace`."""
        return self.plan.check_workspace(cwd)

    @property
    def pid(self) -> int | None:
        """The agent's process, or the first of several, if it is there and on this machine."""
        return next((worker.pid for worker in self._workers if worker.pid is not None), None)

    @property
    def sessions(self) -> list[Session]:
        """The sessions that are open."""
        return list(dict.fromkeys(self._sessions.values()))

    def know(self, session_id: str, session: Session) -> None:
        """Messages with this id are for that session."""
        self._sessions[session_id] = session

    def forget(self, session: Session) -> None:
        for name in [name for name, known in self._sessions.items() if known is session]:
            del self._sessions[name]

    # Questions to the harness.

    async def saved_sessions(self, *, limit: int = 50, archived: bool = False) -> AgentSessions:
        """The sessions that the harness knows of, newest first."""
        return await self.ask(intents.ListSessions(limit=limit, archived=archived))

    async def models(self) -> list[Model]:
        """The models that it offers."""
        offered = self.capabilities
        if "models" not in offered.can and offered.models:
            return [Model(id=name, label=name) for name in offered.models]
        return await self.ask(intents.ListModels())

    async def rate_limits(self) -> AccountLimits:
        """How much of the account's allowance is used up."""
        return await self.ask(intents.ReadRateLimits())

    async def ask(self, intent: intents.Intent, *, seconds: float | None = None) -> Any:
        """Submit an intent and wait for its answer; also over a restart, with a bound."""
        if self._shared is not None:
            return await self._shared.ask(intent, seconds=seconds)
        session = self._sessions.get(getattr(intent, "session_id", ""))
        if session is not None:
            return await session.worker.ask(intent, seconds=seconds)
        # A process for no session, only to be asked.
        worker = await self.hire(None)
        try:
            return await worker.ask(intent, seconds=seconds)
        finally:
            await self.dismiss(worker)

    def observe(self, observer: Callable[[Message], None]) -> None:
        """Call this with every message of every session, as it comes. It must be quick."""
        self._observers.append(observer)

    # From its processes.

    def publish(
        self,
        messages: list[Message],
        worker: Worker | None = None,
        source: Keeper | None = None,
    ) -> None:
        """Pass messages on to those they are for."""
        before, self.source = self.source, source
        for message in messages:
            for observer in self._observers:
                with CallOutcome() as outcome:
                    observer(message)
                if outcome.error is not None:
                    _log.error("an observer failed", exc_info=outcome.error)
            session = self._sessions.get(message.session_id or "") or self._adopt(message)
            if session is None:
                self.notices.append(message)
                if isinstance(message, ApprovalRequested) and worker is not None:
                    self._router.refuse(message, worker)
                continue
            session.on_message(message)
            if not isinstance(message, Delta):
                self._router.on_message(message, session, session.worker)
        self.source = before

    def run_tool(self, request: ToolRequest, worker: Worker) -> None:
        """The model calls a tool of ours."""
        self._router.run_tool(request, self._sessions, worker)

    def withdraw(self, worker: Worker) -> None:
        """A process is lost: what it has asked needs no answer."""
        if worker is self._shared:
            self._router.forget_all()
            return
        for name, session in self._sessions.items():
            if session.worker is worker:
                self._router.forget(name)

    def _adopt(self, message: Message) -> Session | None:
        """The session that a new sub-agent works for, if it is one of ours."""
        if not isinstance(message, SessionStarted) or message.parent_session_id is None:
            return None
        parent = self._sessions.get(message.parent_session_id)
        if parent is not None and message.session_id is not None:
            self.know(message.session_id, parent)
            parent.members.add(message.session_id)
        return parent

    def end_turn(self, session: Session, outcome: Outcome, error: TurnError | None = None) -> None:
        """End a session's turn ourselves."""
        session.worker.end_turn(session, outcome, error)

    # Life.

    async def begin(self) -> None:
        """Start it. Raises when that fails; later losses are made good."""
        self._own_state = "running"
        if not self.plan.process_per_session:
            self._shared = worker = Worker(self)
            self._workers.append(worker)
            await worker.start()
            self.keep(worker)

    def _worker(self) -> Worker:
        if self._shared is None:
            raise ProcessExited(f"the agent is {self._own_state}")
        return self._shared

    async def close(self) -> Exit | None:
        """End everything, turns that are under way included. Bounded; leaves no process behind."""
        self._own_state = "stopped"
        workers = list(self._workers)
        ends = await asyncio.gather(*(worker.close() for worker in workers))
        self._workers = [self._shared] if self._shared is not None else []
        return ends[0] if ends else None
