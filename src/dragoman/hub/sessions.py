"""What can be done with the sessions of a hub: each opened on the agent when somebody needs it there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

from dragoman.drive.agent import Agent
from dragoman.drive.calling import Outcome
from dragoman.drive.process.session_commands import RunningCommand
from dragoman.drive.session import Session
from dragoman.drive.tasks import Tasks
from dragoman.drive.tools.toolbox import Toolbox
from dragoman.drive.turns import Turn
from dragoman.drive.workspaces import check_workspace
from dragoman.errors import DragomanError, ProtocolError, ResponseError
from dragoman.hub.agent import AgentHolder
from dragoman.hub.live import Live
from dragoman.hub.registry import Room
from dragoman.hub.shapes import LiveSession, PutAway
from dragoman.hub.steering import returned, steered, without
from dragoman.model.intents import Archive, OpenSession, Rename, Sandbox
from dragoman.model.messages import Notice, TurnEnded

_UNDER_WAY: Final = (
    "the sandbox and the approvals cannot be changed while a turn is under way: "
    "interrupt it, or wait for its end"
)


class Sessions:
    """Between the room, where sessions are kept, and the agent, where they live."""

    def __init__(self, room: Room, holder: AgentHolder, tasks: Tasks) -> None:
        self._room = room
        self._holder = holder
        self._tasks = tasks

    def interrupt_all(self) -> None:
        """The store cannot be written: what agents do now could not be told to anybody."""
        for live in self._room.lives.values():
            if live.driver is not None and live.driver.running:
                self._tasks.create_task(self._interrupt(live.driver))

    async def _interrupt(self, driver: Session) -> None:
        await driver.interrupt()

    async def start(
        self,
        *,
        cwd: str,
        model: str | None,
        sandbox: Sandbox,
        approvals: Any,
        resume: str | None,
        title: str | None = None,
    ) -> Live:
        """A new session, or one of the harness's that the hub has not known."""
        agent = await self._holder.get()
        self._room.expecting()
        try:
            session = await agent.start(
                cwd=cwd, model=model, sandbox=sandbox, approvals=approvals, resume=resume
            )
            return self._begin(agent, session, title=title)
        finally:
            self._room.expected()

    def _begin(
        self,
        agent: Agent,
        session: Session,
        *,
        parent: str | None = None,
        parent_seq: int | None = None,
        title: str | None = None,
    ) -> Live:
        now = datetime.now(UTC)
        opening = session.opening
        live = self._room.begin(
            LiveSession(
                id=session.id,
                harness=self._holder.harness.name,
                cwd=opening.cwd,
                model=session.facts.model or opening.model,
                sandbox=opening.sandbox,
                approvals=opening.approvals,
                native_id=session.id,
                created_at=now,
                updated_at=now,
                was_asked=session.facts.resumed or parent is not None,
                parent=parent or session.facts.parent_session_id,
                parent_seq=parent_seq,
                title=title,
            )
        )
        live.driver, live.agent = session, agent
        return live

    async def opened(
        self, live: Live, *, sandbox: Sandbox | None = None, approvals: Any = None
    ) -> Session:
        """The session on the agent: resumed if it is not there, or if it is to have another authority.

        So the agent confirms that authority before it is asked anything; the session keeps it. One that
        was put away is brought back.
        """
        if live.info.archived:
            await self.archive(live, archived=False)
        agent = await self._holder.get()
        async with live.opening:
            driver, info = live.driver, live.info
            authority = sandbox or cast("Sandbox", info.sandbox), approvals or info.approvals
            if driver is not None and live.agent is agent and driver.lost is None:
                if driver.id != live.native_id:  # the process was lost, and it got another name
                    self._rename(live, driver.id)
                if authority == (info.sandbox, info.approvals):
                    return driver
                if driver.running:
                    raise ProtocolError(_UNDER_WAY)
                live.driver = None
                await driver.close(keep_commands=True)
            self._room.expecting()
            try:
                session = await agent.start(
                    cwd=info.cwd,
                    model=info.model,
                    sandbox=authority[0],
                    approvals=authority[1],
                    resume=live.native_id if info.was_asked else None,
                    or_new=info.was_asked,
                )
                live.set(sandbox=authority[0], approvals=authority[1])
                self._rename(live, session.id)
            finally:
                self._room.expected()
            live.driver, live.agent = session, agent
            return session

    def _rename(self, live: Live, native_id: str) -> None:
        live.name(native_id)
        self._room.know(live)
        self._room.changed(live)

    async def run(
        self,
        live: Live,
        text: str,
        *,
        images: Sequence[str] = (),
        model: str | None = None,
        effort: str | None = None,
        sandbox: Sandbox | None = None,
        approvals: Any = None,
    ) -> str | None:
        """Begin a turn; while one is under way, say it to that one. Its id."""
        session = await self.opened(live, sandbox=sandbox, approvals=approvals)
        if (turn := session.turn) is not None:
            await turn.begin()
            if session.turn is turn:
                await self._steer(live, session, text, images)
                return turn.id
        turn = session.run(text, images=images, model=model, effort=effort)
        live.is_starting = True
        live.set(error=None, updated_at=datetime.now(UTC))
        self._room.changed(live)
        self._tasks.create_task(self._follow(live, turn))
        await turn.begin()
        return turn.id

    async def _follow(self, live: Live, turn: Turn) -> None:
        """Read a turn to its end: what the driver says of its own accord is heard nowhere else."""
        with Outcome() as outcome:
            async for message in turn:
                if message.line or message in live.ours:
                    continue
                if not isinstance(message, TurnEnded) or live.is_under_way or live.is_starting:
                    self._room.add(live, message, ours=True)
        live.is_starting = False
        if outcome.problem is not None:
            said = outcome.error if isinstance(outcome.error, DragomanError) else outcome.problem
            text = f"the turn could not be begun: {said}"
            notice = Notice(session_id=live.native_id, level="error", text=text)
            live.rest = "failed"
            live.set(error=text)
            self._room.add(live, notice, ours=True)
        live.come_to_rest()
        self._room.changed(live)

    async def steer(self, live: Live, text: str, images: Sequence[str]) -> None:
        if live.driver is None or not live.driver.running:
            raise ProtocolError("no turn is under way")
        await self._steer(live, live.driver, text, images)

    async def _steer(self, live: Live, session: Session, text: str, images: Sequence[str]) -> None:
        """Written down before it is sent: the agent tells it only when it takes it up, if it does."""
        said = steered(text, datetime.now(UTC))
        live.set(steered=[*live.info.steered, said])
        self._room.changed(live)
        await self._room.stored()
        self._room.steering += 1
        try:
            await session.steer(text, images=images)
        except DragomanError:
            # Whoever said it is told so, and still has the words.
            live.set(steered=without(live.info.steered, said.id))
            self._room.changed(live)
            raise
        finally:
            self._room.steering -= 1
        if not live.is_under_way and not live.is_starting:  # the turn ended meanwhile
            live.set(steered=returned(live.info.steered))
            self._room.changed(live)

    def take_back(self, live: Live, steered_id: str) -> bool:
        """Let go of words that came back. False: there are none of this id, any more."""
        found = next((each for each in live.info.steered if each.id == steered_id), None)
        if found is None:
            return False
        if found.state == "pending":
            raise ProtocolError(
                "the agent may still take this up: interrupt the turn to take it back"
            )
        live.set(steered=without(live.info.steered, steered_id))
        self._room.changed(live)
        return True

    async def interrupt(self, live: Live, *, keep_commands: bool) -> list[RunningCommand]:
        if live.driver is None:
            return []
        return await live.driver.interrupt(keep_commands=keep_commands)

    def commands(self, live: Live) -> list[RunningCommand]:
        return live.driver.commands() if live.driver is not None else []

    async def stop_commands(self, live: Live) -> list[RunningCommand]:
        return await live.driver.stop_commands() if live.driver is not None else []

    async def fork(self, live: Live) -> Live:
        session = await self.opened(live)
        self._room.expecting()
        try:
            branch = await session.fork()
            agent, title = await self._holder.get(), live.info.title
            return self._begin(agent, branch, parent=live.id, parent_seq=live.told_seq, title=title)
        finally:
            self._room.expected()

    async def fork_saved(self, session_id: str, *, cwd: str, title: str | None) -> Live:
        """A branch of a session that the hub has not known: none of its words are here."""
        opening = OpenSession(cwd=check_workspace(cwd), approvals="on-request", fork=session_id)
        agent = await self._holder.get()
        self._room.expecting()
        try:
            branch = await agent.open(opening, Toolbox(()))
            return self._begin(agent, branch, parent=session_id, parent_seq=0, title=title)
        finally:
            self._room.expected()

    async def rename(self, live: Live, name: str) -> None:
        if live.info.archived:
            raise PutAway(live.id)
        if live.info.was_asked:  # before that the harness has nothing to put the name on
            agent = await self._holder.get()
            await agent.ask(Rename(session_id=live.native_id, name=name))
        live.set(title=name, updated_at=datetime.now(UTC))
        self._room.changed(live)

    async def archive(self, live: Live, *, archived: bool) -> None:
        """Put it away, there and here, or bring it back."""
        if archived:
            await self.stop(live)
        if live.info.was_asked:
            agent = await self._holder.get()
            try:
                await agent.ask(Archive(session_id=live.native_id, archived=archived))
            except ResponseError as refused:
                # It may have been put away, or thrown away, by the harness's own means.
                notice = Notice(session_id=live.native_id, level="warning", text=str(refused))
                self._room.add(live, notice, ours=True)
        live.set(archived=archived, updated_at=datetime.now(UTC))
        self._room.changed(live)

    async def stop(self, live: Live, *, keep_commands: bool = False) -> list[RunningCommand]:
        """End its turn and its commands, and let go of it; it is resumed when it is needed again."""
        stopped: list[RunningCommand] = []
        async with live.opening:
            driver, live.driver, live.agent = live.driver, None, None
            if driver is not None:
                stopped = await driver.close(keep_commands=keep_commands)
        self._room.changed(live)
        return stopped
