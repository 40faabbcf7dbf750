"""Sessions whose every turn is a process of its own: it is given a prompt, answers, and is gone.

The same words as a session on a server, as far as they go: a follow-up resumes what the last process left
on disk; what needs a process that listens is refused.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dragoman.drive.process.descendants import name_processes
from dragoman.drive.process.session_commands import RunningCommand
from dragoman.drive.restarting import State
from dragoman.drive.tasks import Tasks
from dragoman.drive.timeouts import judge
from dragoman.drive.turns.running import RunningTurn
from dragoman.drive.turns.shots import Shot, ShotPlan
from dragoman.drive.workspaces import check_prompt
from dragoman.errors import ProcessExited, TurnInterrupted, Unsupported
from dragoman.harnesses.contract.capabilities import resolve_access
from dragoman.harnesses.contract.transport import OneShot
from dragoman.model.intents import ServerFacts, SessionFacts
from dragoman.model.messages import Message, SessionStarted, TurnError, UsageReport
from dragoman.model.usage import Usage

_TICK = 0.5
_NOTICES_KEPT = 200
_SERVER = "a session on a server (transport='app-server')"


class OneShotAgent:
    """What ``dragoman.connect(…, transport="exec")`` gives."""

    def __init__(self, plan: ShotPlan, tasks: Tasks) -> None:
        self.plan = plan
        self.tasks = tasks
        self.timeouts = plan.timeouts
        self.state: State = "running"
        self.facts: ServerFacts | None = plan.facts
        self.capabilities = plan.capabilities
        self.running: set[Shot] = set()
        self.notices: deque[Message] = deque(maxlen=_NOTICES_KEPT)
        """The newest messages that arrived between turns."""

    def publish(self, messages: Sequence[Message]) -> None:
        """Pass on what is of no process: to the turns that are under way, if there are any."""
        if not self.running:
            self.notices.extend(messages)
        for shot in self.running:
            for message in messages:
                shot.turn.on_message(message, own=True)

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
    ) -> OneShotSession:
        """A session in this directory; its first process starts with its first turn."""
        _refuse("tools of ours", list(tools))
        _refuse("instructions", instructions)
        _refuse("a personality", personality)
        _refuse("asking for approval", (asking or approvals) not in (None, "never"))
        access = access if access is not None else sandbox
        shot = OneShot(
            prompt="",
            cwd=self.plan.check_workspace(cwd),
            sandbox=resolve_access(self.capabilities, access).value,
            model=model,
            resume=resume,
            fork=fork,
            ephemeral=ephemeral,
            profile=profile,
            add_dirs=tuple(self.plan.check_workspace(each) for each in add_dirs),
            config=config or {},
        )
        return OneShotSession(self, shot)

    @property
    def pid(self) -> int | None:
        """The process of a turn that is under way, if it is on this machine."""
        return next((shot.pid for shot in self.running), None)

    async def saved_sessions(self, *, limit: int = 50, archived: bool = False) -> Any:
        raise Unsupported("listing sessions", needs=_SERVER)

    async def models(self) -> Any:
        raise Unsupported("listing models", needs=_SERVER)

    async def rate_limits(self) -> Any:
        raise Unsupported("asking for rate limits", needs=_SERVER)

    async def watch(self) -> None:
        """Give up turns without activity for too long."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_TICK)
            for shot in list(self.running):
                pulse = shot.turn.fresh_pulse(gone=False)
                verdict = judge(pulse, self.timeouts, loop.time())
                if verdict is not None and pulse.tools:
                    name_processes(pulse, shot.pid)
                    verdict = judge(pulse, self.timeouts, loop.time())
                if verdict is not None:
                    error = TurnError(
                        kind=verdict.kind,
                        message=verdict.text,
                        retryable=True,
                        native=verdict.reason,
                    )
                    shot.give_up(error)

    async def close(self) -> None:
        """End everything. Bounded; leaves no process behind."""
        self.state = "stopped"
        async with asyncio.TaskGroup() as tasks:
            for shot in self.running:
                tasks.create_task(shot.stop())


class OneShotSession:
    """A session of which every turn is a process of its own."""

    def __init__(self, agent: OneShotAgent, shot: OneShot) -> None:
        self._agent = agent
        self._shot = shot
        self._current: Shot | None = None
        self._spent: Usage | None = None
        self._origin: OneShotSession | None = None
        """The session that the next process branches off from."""
        self.facts = SessionFacts(
            session_id=shot.resume or "",
            model=shot.model,
            cwd=shot.cwd,
            access=shot.sandbox,
            sandbox=shot.sandbox,
            approvals="never",
            resumed=shot.resume is not None,
        )

    @property
    def id(self) -> str:
        """Empty until the first process has named it."""
        return self.facts.session_id

    @property
    def running(self) -> bool:
        return self._current is not None

    @property
    def spent(self) -> Usage | None:
        """The usage before the next process, as far as it was reported."""
        return self._origin.spent if self._origin is not None else self._spent

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
    ) -> RunningTurn:
        """Ask; iterate over what is returned for the messages, or await it for the result."""
        _refuse("a sandbox policy of its own for a turn", sandbox_policy)
        shot = replace(
            self._shot,
            prompt=check_prompt(text, images),
            images=tuple(self._agent.plan.check_images(images)),
            model=model or self._shot.model,
            effort=effort,
            cwd=self._agent.plan.check_workspace(cwd) if cwd else self._shot.cwd,
        )

        async def begin(turn: RunningTurn) -> str | None:
            while self._current is not None:
                if self._current.turn.ended is None:
                    raise Unsupported("a second prompt while a turn is under way", needs=_SERVER)
                await self._current.gone()
            if self._agent.state == "stopped":
                raise ProcessExited("the agent is closed")
            if not turn.is_awaited:
                raise TurnInterrupted("the turn was given up before it began")
            with_id = replace(shot, resume=self.id or None) if shot.fork is None else shot
            self._current = Shot(self._agent, self, turn)
            try:
                await self._current.start(with_id, output_schema)
            except BaseException:
                self._current = None
                raise
            return None

        return RunningTurn(begin)

    def observe_turns(self, observer: Callable[[RunningTurn], None]) -> None:
        """A process that ends with its turn starts none by itself."""

    async def turns(self) -> AsyncGenerator[RunningTurn]:
        """Without any turns, as no turn begins that was not asked for."""
        for turn in ():
            yield turn

    async def interrupt(self, *, keep_commands: bool = False) -> list[RunningCommand]:
        """Stop the turn: its process is ended, and with it all that it has started."""
        _refuse("keeping the commands of a turn that is stopped", keep_commands)
        if self._current is not None:
            await self._current.stop()
        return []

    async def fork(self) -> OneShotSession:
        """A session with the history of this one, from its next prompt on."""
        if not self.id:
            raise Unsupported("branching off a session that nothing was asked in")
        branch = OneShotSession(self._agent, replace(self._shot, fork=self.id, resume=None))
        branch._origin = self
        return branch

    def compact(self) -> RunningTurn:
        raise Unsupported("compacting a session", needs=_SERVER)

    def review(self, target: Mapping[str, Any] | None = None) -> RunningTurn:
        raise Unsupported("a review", needs=_SERVER)

    async def steer(self, text: str, *, images: Sequence[str | os.PathLike[str]] = ()) -> None:
        raise Unsupported("saying something to an agent while it works", needs=_SERVER)

    async def stop_commands(self) -> list[RunningCommand]:
        raise Unsupported("stopping a session's commands", needs=_SERVER)

    async def rename(self, name: str) -> None:
        raise Unsupported("renaming a session", needs=_SERVER)

    async def archive(self, *, archived: bool = True) -> None:
        raise Unsupported("archiving a session", needs=_SERVER)

    async def read(self, *, turns: bool = True) -> Any:
        raise Unsupported("reading a session", needs=_SERVER)

    async def close(self, *, keep_commands: bool = False) -> list[RunningCommand]:
        return await self.interrupt(keep_commands=keep_commands)

    def on_message(self, message: Message) -> None:
        """Learn from a message of the turn's process."""
        if isinstance(message, SessionStarted) and message.session_id:
            if self._is_another(message.session_id):
                return
            self.facts = SessionFacts(
                session_id=message.session_id,
                model=message.model or self.facts.model,
                cwd=message.cwd or self.facts.cwd,
                access=self.facts.access,
                sandbox=self.facts.sandbox,
                approvals="never",
                resumed=self.facts.resumed,
            )
            self._shot = replace(self._shot, fork=None)
            self._origin = None
        elif isinstance(message, UsageReport) and message.session_id == self.id:
            self._spent = message.total or self._spent

    def _is_another(self, session_id: str) -> bool:
        """Whether a new session was started in place of the one to resume; that turn is ended.

        Some releases do that without a word when they cannot find the session.
        """
        wanted = self._shot.resume or (self.id if self._shot.fork is None else "")
        if not wanted or session_id == wanted:
            return False
        if self._current is not None:
            error = TurnError(
                kind="response_error",
                message=f"there is no session {wanted!r} to resume; the agent started a new one instead",
                retryable=False,
            )
            self._current.give_up(error)
        return True

    def over(self) -> None:
        self._current = None


def _refuse(what: str, asked: object) -> None:
    if asked:
        raise Unsupported(what, needs=_SERVER)
