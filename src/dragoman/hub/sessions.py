"""What can be done with the sessions of a hub: each opened on its agent when needed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from dragoman.drive.agent import Agent
from dragoman.drive.calling import Outcome
from dragoman.drive.process.session_commands import RunningCommand
from dragoman.drive.session import Session
from dragoman.drive.tasks import Tasks
from dragoman.drive.turns.running import RunningTurn
from dragoman.errors import DragomanError, ProtocolError, ResponseError
from dragoman.harnesses.contract.capabilities import Ability
from dragoman.hub.agent import AgentConnections
from dragoman.hub.live.registry import LiveRegistry
from dragoman.hub.live.state import LiveState
from dragoman.hub.live.steering import returned, steered, without
from dragoman.hub.shapes import LiveSession, SessionArchived
from dragoman.model.intents import Archive, Rename
from dragoman.model.messages import Notice, TurnEnded

_UNDER_WAY: Final = (
    "the sandbox and the approvals cannot be changed while a turn is under way: "
    "interrupt it, or wait for its end"
)


class SessionActions:
    """Between the registry, where sessions are kept, and the agent, where they live."""

    def __init__(self, registry: LiveRegistry, agents: AgentConnections, tasks: Tasks) -> None:
        self._registry = registry
        self._agents = agents
        self._tasks = tasks

    def interrupt_all(self) -> None:
        """The store cannot be written: what agents do now could not be delivered to any reader."""
        for live in self._registry.lives.values():
            if live.driver is not None and live.driver.running:
                self._tasks.create_task(self._interrupt(live.driver))

    async def _interrupt(self, driver: Session) -> None:
        await driver.interrupt()

    async def start(
        self,
        *,
        cwd: str,
        model: str | None,
        access: str,
        asking: Any,
        resume: str | None,
        title: str | None = None,
        harness: str | None = None,
    ) -> LiveState:
        """A new session, or a saved one of the harness's that is new to the hub."""
        connection = self._agents.of(harness)
        agent = await connection.get()
        self._registry.expecting()
        try:
            session = await agent.start(
                cwd=cwd, model=model, access=access, asking=asking, resume=resume
            )
            return self._begin(connection.harness.name, agent, session, title=title)
        finally:
            self._registry.expected()

    def _begin(
        self,
        harness: str,
        agent: Agent,
        session: Session,
        *,
        parent: str | None = None,
        parent_seq: int | None = None,
        title: str | None = None,
    ) -> LiveState:
        now = datetime.now(UTC)
        opening = session.opening
        live = self._registry.begin(
            LiveSession(
                id=session.id,
                harness=harness,
                cwd=opening.cwd,
                model=session.facts.model or opening.model,
                sandbox=opening.access or opening.sandbox,
                approvals=opening.asking,
                native_id=session.id,
                created_at=now,
                updated_at=now,
                was_asked=session.facts.resumed or parent is not None,
                parent=parent or session.facts.parent_session_id,
                parent_seq=parent_seq,
                title=title,
            )
        )
        self._drive(live, session, agent)
        return live

    def _drive(self, live: LiveState, session: Session, agent: Agent) -> None:
        """The session is open on the agent. The turns that the agent starts by itself are followed as well."""

        def follow(turn: RunningTurn) -> None:
            self._tasks.create_task(self._follow(live, turn))

        live.driver, live.agent = session, agent
        session.observe_turns(follow)

    async def opened(
        self, live: LiveState, *, access: str | None = None, asking: Any = None
    ) -> Session:
        """The session on the agent: resumed if it is not there, or if it is to have another authority.

        So the agent confirms that authority before it is asked anything; the session keeps it. One that
        was put away is brought back.
        """
        if live.info.archived:
            await self.archive(live, archived=False)
        agent = await self._agents.of(live.info.harness).get()
        async with live.opening:
            driver, info = live.driver, live.info
            authority = access or info.sandbox, asking or info.approvals
            if driver is not None and live.agent is agent and driver.lost is None:
                if driver.id != live.native_id:  # the process was lost, and it got another name
                    self._rename(live, driver.id)
                if authority == (info.sandbox, info.approvals):
                    return driver
                if driver.running:
                    raise ProtocolError(_UNDER_WAY)
                live.driver = None
                await driver.close(keep_commands=True)
            self._registry.expecting()
            try:
                session = await agent.start(
                    cwd=info.cwd,
                    model=info.model,
                    access=authority[0],
                    asking=authority[1],
                    resume=live.native_id if info.was_asked else None,
                    or_new=info.was_asked,
                )
                live.set(sandbox=authority[0], approvals=authority[1])
                self._rename(live, session.id)
            finally:
                self._registry.expected()
            self._drive(live, session, agent)
            return session

    def _rename(self, live: LiveState, native_id: str) -> None:
        live.name(native_id)
        self._registry.know(live)
        self._registry.changed(live)

    async def run(
        self,
        live: LiveState,
        text: str,
        *,
        images: Sequence[str] = (),
        model: str | None = None,
        effort: str | None = None,
        access: str | None = None,
        asking: Any = None,
    ) -> str | None:
        """Start a turn; while one is running, send the text to that one. Returns the turn's id."""
        session = await self.opened(live, access=access, asking=asking)
        if (turn := session.turn) is not None:
            await turn.begin()
            if session.turn is turn:
                await self._steer(live, session, text, images)
                return turn.id
        turn = session.run(text, images=images, model=model, effort=effort)
        live.is_starting = True
        live.set(error=None, updated_at=datetime.now(UTC))
        self._registry.changed(live)
        self._tasks.create_task(self._follow(live, turn))
        await turn.begin()
        return turn.id

    async def _follow(self, live: LiveState, turn: RunningTurn) -> None:
        """Read a turn to its end: notices of the driver itself are delivered only here."""
        with Outcome() as outcome:
            async for message in turn:
                if message.line or message in live.ours:
                    continue
                if not isinstance(message, TurnEnded) or live.is_under_way or live.is_starting:
                    self._registry.add(live, message, ours=True)
        live.is_starting = False
        if outcome.problem is not None:
            said = outcome.error if isinstance(outcome.error, DragomanError) else outcome.problem
            text = f"the turn could not be started: {said}"
            notice = Notice(session_id=live.native_id, level="error", text=text)
            live.rest = "failed"
            live.set(error=text)
            self._registry.add(live, notice, ours=True)
        live.come_to_rest()
        self._registry.changed(live)

    async def steer(self, live: LiveState, text: str, images: Sequence[str]) -> None:
        if live.driver is None or not live.driver.running:
            raise ProtocolError("no turn is under way")
        await self._steer(live, live.driver, text, images)

    async def _steer(
        self, live: LiveState, session: Session, text: str, images: Sequence[str]
    ) -> None:
        """Stored before it is sent: the agent reports it only when it takes it up, if it does."""
        said = steered(text, datetime.now(UTC))
        live.set(steered=[*live.info.steered, said])
        self._registry.changed(live)
        await self._registry.stored()
        self._registry.steering += 1
        try:
            await session.steer(text, images=images)
        except DragomanError:
            # The caller gets the error and still has the text.
            live.set(steered=without(live.info.steered, said.id))
            self._registry.changed(live)
            raise
        finally:
            self._registry.steering -= 1
        if not live.is_under_way and not live.is_starting:  # the turn ended meanwhile
            live.set(steered=returned(live.info.steered))
            self._registry.changed(live)

    def take_back(self, live: LiveState, steered_id: str) -> bool:
        """Let go of words that came back. False: there are none of this id, any more."""
        found = next((each for each in live.info.steered if each.id == steered_id), None)
        if found is None:
            return False
        if found.state == "pending":
            raise ProtocolError(
                "the agent may still take this up: interrupt the turn to take it back"
            )
        live.set(steered=without(live.info.steered, steered_id))
        self._registry.changed(live)
        return True

    async def interrupt(self, live: LiveState, *, keep_commands: bool) -> list[RunningCommand]:
        if live.driver is None:
            return []
        return await live.driver.interrupt(keep_commands=keep_commands)

    def commands(self, live: LiveState) -> list[RunningCommand]:
        return live.driver.commands() if live.driver is not None else []

    async def stop_commands(self, live: LiveState) -> list[RunningCommand]:
        return await live.driver.stop_commands() if live.driver is not None else []

    async def fork(self, live: LiveState) -> LiveState:
        session = await self.opened(live)
        self._registry.expecting()
        try:
            branch = await session.fork()
            harness, title = live.info.harness, live.info.title
            agent = await self._agents.of(harness).get()
            return self._begin(
                harness, agent, branch, parent=live.id, parent_seq=live.told_seq, title=title
            )
        finally:
            self._registry.expected()

    async def fork_saved(
        self, session_id: str, *, cwd: str, title: str | None, harness: str | None = None
    ) -> LiveState:
        """A branch of a session that is new to the hub: its messages so far are not here."""
        connection = self._agents.of(harness)
        agent = await connection.get()
        self._registry.expecting()
        try:
            branch = await agent.start(cwd=cwd, fork=session_id)
            name = connection.harness.name
            return self._begin(name, agent, branch, parent=session_id, parent_seq=0, title=title)
        finally:
            self._registry.expected()

    async def rename(self, live: LiveState, name: str) -> None:
        if live.info.archived:
            raise SessionArchived(live.id)
        agent = await self._able(live, "rename")
        if agent is not None:
            if agent.plan.process_per_session:  # only its own process can be asked
                await self.opened(live)
            await agent.ask(Rename(session_id=live.native_id, name=name))
        live.set(title=name, updated_at=datetime.now(UTC))
        self._registry.changed(live)

    async def archive(self, live: LiveState, *, archived: bool) -> None:
        """Archive it, there and here, or bring it back."""
        if archived:
            await self.stop(live)
        agent = await self._able(live, "archive")
        if agent is not None:
            try:
                await agent.ask(Archive(session_id=live.native_id, archived=archived))
            except ResponseError as refused:
                # The user may have archived or deleted it with the harness's own program.
                notice = Notice(session_id=live.native_id, level="warning", text=str(refused))
                self._registry.add(live, notice, ours=True)
        live.set(archived=archived, updated_at=datetime.now(UTC))
        self._registry.changed(live)

    async def _able(self, live: LiveState, ability: Ability) -> Agent | None:
        """The agent, if it can do this with the session; otherwise only the hub does it."""
        connection = self._agents.of(live.info.harness)
        if not live.info.was_asked:  # the harness has not stored it yet
            return None
        agent = await connection.get()
        return agent if ability in agent.capabilities.can else None

    async def stop(self, live: LiveState, *, keep_commands: bool = False) -> list[RunningCommand]:
        """End its turn and its commands, and unload it; it is resumed when it is needed again."""
        stopped: list[RunningCommand] = []
        async with live.opening:
            driver, live.driver, live.agent = live.driver, None, None
            if driver is not None:
                stopped = await driver.close(keep_commands=keep_commands)
        self._registry.changed(live)
        return stopped
