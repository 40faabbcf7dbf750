"""One process that is given one prompt, from its start to its end."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from dragoman.drive.calling import Outcome as CallOutcome
from dragoman.drive.links.exchange import Keeper
from dragoman.drive.links.link import Link, OpenLink
from dragoman.drive.restarting import State
from dragoman.drive.tasks import Tasks
from dragoman.drive.timeouts import Timeouts
from dragoman.drive.turns.running import RunningTurn
from dragoman.drive.workspaces import CheckImages, check_images, check_workspace
from dragoman.errors import ProcessExited, TurnInterrupted
from dragoman.harnesses.contract.capabilities import Capabilities
from dragoman.harnesses.contract.transport import Launch, OneShot, Run
from dragoman.model.intents import ServerFacts
from dragoman.model.messages import Message, TurnEnded, TurnError
from dragoman.model.usage import Usage
from dragoman.wire.lines import LongLine

_log = logging.getLogger(__name__)
_EXIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotPlan:
    """How the processes are started, and how they are to be treated."""

    facts: ServerFacts
    capabilities: Capabilities
    launch: Callable[[OneShot], Launch]
    make_run: Callable[[OneShot, Usage | None], Run]
    open_link: Callable[[Launch], OpenLink]
    write_schema: Callable[[Mapping[str, Any]], AbstractContextManager[str]]
    """Puts a schema where the process can read it."""
    timeouts: Timeouts = field(default_factory=Timeouts)
    journal: Keeper | None = None
    check_workspace: Callable[[str | os.PathLike[str]], str] = check_workspace
    check_images: CheckImages = check_images


class _ShotAgent(Protocol):
    @property
    def plan(self) -> ShotPlan: ...

    @property
    def tasks(self) -> Tasks: ...

    @property
    def running(self) -> set[Shot]: ...

    @property
    def state(self) -> State: ...


class _ShotSession(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def spent(self) -> Usage | None: ...

    def on_message(self, message: Message) -> None: ...

    def over(self) -> None: ...


class Shot:
    """One process, from its start to its end."""

    def __init__(self, agent: _ShotAgent, session: _ShotSession, turn: RunningTurn) -> None:
        self._agent = agent
        self._session = session
        self.turn = turn
        self._shot: OneShot | None = None
        self._run: Run | None = None
        self._link: Link | None = None
        self._stopped = False
        self._fault: str | None = None
        """The error that the run raised: it may come from a plug-in."""
        self._schema: AbstractContextManager[str] | None = None
        self._said_all = asyncio.Event()
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def pid(self) -> int | None:
        """The process, if it is on this machine."""
        return self._link.pid if self._link is not None else None

    async def start(self, shot: OneShot, schema: Mapping[str, Any] | None) -> None:
        plan = self._agent.plan
        async with AsyncExitStack() as undo:
            undo.callback(self._drop_schema)
            if schema is not None:
                self._schema = plan.write_schema(schema)
                shot = replace(shot, output_schema=self._schema.__enter__())
            launch = plan.launch(shot)
            self._shot = shot
            self._link = link = await plan.open_link(launch)(self._receive, self._said_all.set)
            undo.push_async_callback(lambda: asyncio.shield(link.stop()))
            self._begun()
            if self._agent.state == "stopped":
                raise ProcessExited("the agent is closed")
            if self._stopped:
                raise TurnInterrupted("the turn was given up before it began")
            self._agent.tasks.create_task(self._finish(link))
            undo.pop_all()
        self._agent.running.add(self)
        self._pump()

    def _begun(self) -> Run:
        """What reads the process: made, and imported, while the process starts."""
        if self._run is None:
            plan, shot = self._agent.plan, self._shot
            assert shot is not None
            run = plan.make_run(shot, self._session.spent)
            run.receive_time(datetime.now(UTC))
            if plan.journal is not None:
                plan.journal.sent([run.opening()])
            self._run = run
        return self._run

    def _receive(self, lines: list[bytes | LongLine]) -> None:
        if self._fault is not None:
            return  # the process is being stopped
        with CallOutcome() as received:
            run = self._begun()
            if self._agent.plan.journal is not None:
                self._agent.plan.journal.received(lines)
            run.receive_time(datetime.now(UTC))
            for line in lines:
                if isinstance(line, LongLine):
                    run.receive_long_line(line)
                else:
                    run.receive_line(line)
            self._pump()
        self._fail(received)
        if received.error is not None:
            self._agent.tasks.create_task(self.stop())

    def _fail(self, outcome: CallOutcome) -> None:
        """End the turn if the run raised, and so cannot end it."""
        if outcome.error is None:
            return
        _log.error("the run of an agent failed", exc_info=outcome.error)
        self._fault = self._fault or outcome.problem
        if self.turn.ended is None:
            message = f"the run of the agent failed: {self._fault}"
            error = TurnError(kind="port_exit", message=message, retryable=True)
            ended = TurnEnded(
                session_id=self._session.id or None,
                turn_id=self.turn.id,
                outcome="failed",
                error=error,
            )
            self._session.on_message(ended)
            self.turn.on_message(ended, own=True)

    def _pump(self) -> None:
        for message in self._run.messages() if self._run is not None else ():
            self._session.on_message(message)
            self.turn.on_message(message, own=True)

    async def _finish(self, link: Link) -> None:
        """After the last output of the process, see how it ended."""
        await self._said_all.wait()
        until = asyncio.get_running_loop().time() + _EXIT_SECONDS
        while (ended := link.exit) is None or ended.code is None:
            if asyncio.get_running_loop().time() > until:
                break
            await asyncio.sleep(0.01)
        ended = await link.stop()
        run = self._run
        assert run is not None
        if self.turn.ended is None:
            self.turn.stderr, self.turn.exit_code = link.stderr_tail, ended.code
        self._drop_schema()
        self._agent.running.discard(self)
        self._session.over()
        if self._fault is None:
            with CallOutcome() as finished:
                run.receive_time(datetime.now(UTC))
                run.receive_exit(ended.code, stopped=self._stopped, stderr_tail=link.stderr_tail)
                self._pump()
            self._fail(finished)
        self._gone.set_result(None)

    async def gone(self) -> None:
        """Wait until the process is gone; it is ended if it stays on after its last word."""
        await asyncio.wait([self._gone], timeout=_EXIT_SECONDS)
        await self.stop()

    def give_up(self, error: TurnError) -> None:
        """End the turn as failed, and its process."""
        if self._run is not None and not self._stopped:
            self.turn.stderr = self._link.stderr_tail if self._link is not None else ""
            with CallOutcome() as ended:
                self._run.end_turn("failed", error)
                self._pump()
            self._fail(ended)
            self._stopped = True
            self._agent.tasks.create_task(self.stop())

    async def stop(self) -> None:
        """End the process. Bounded."""
        self._stopped = True
        if self._link is not None:
            await self._link.stop()
            await asyncio.wait([self._gone], timeout=_EXIT_SECONDS)

    def _drop_schema(self) -> None:
        if self._schema is not None:
            self._schema.__exit__(None, None, None)
            self._schema = None
