"""A session with an agent: turns, and what can be done with it between and during them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from dragoman.drive.approvals.grants import Grants
from dragoman.drive.calling import Outcome as CallOutcome
from dragoman.drive.process.reaping import Stat
from dragoman.drive.process.session_commands import CommandLog, RunningCommand, end, stopped_notice
from dragoman.drive.turns.running import RunningTurn, left_running
from dragoman.drive.turns.stopping import stop
from dragoman.drive.workspaces import check_prompt
from dragoman.errors import (
    AgentError,
    DragomanError,
    ProtocolError,
    ResponseTimeout,
    TurnInterrupted,
    Unsupported,
)
from dragoman.model import intents
from dragoman.model.answers import AgentSession
from dragoman.model.messages import (
    Message,
    Outcome,
    SessionStarted,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.model.tools import BASH

if TYPE_CHECKING:
    from dragoman.drive.agent import Agent
    from dragoman.drive.tools.toolbox import Toolbox
    from dragoman.drive.worker import Worker

_log = logging.getLogger(__name__)

_LATE_KEPT = 1000
_LONGEST_TURN = 24 * 3600.0
_ENDED_KEPT = 64
_SETTLING = frozenset((SessionStarted, TurnEnded))
_AT_WORK = frozenset((ToolCall, ToolResult, TurnStarted, TurnEnded))
_OF_THE_PROCESS = ("port_exit", "stall_timeout", "turn_timeout")
"""Kinds of errors that its last words may explain."""


class Session:
    """One conversation with an agent. Made by :meth:`Agent.start`."""

    def __init__(
        self,
        agent: Agent,
        worker: Worker,
        facts: intents.SessionFacts,
        opening: intents.OpenSession,
        toolbox: Toolbox,
    ) -> None:
        self._agent = agent
        self.worker = worker
        """The process that it is open on."""
        self.facts = facts
        self.opening = opening
        self.toolbox = toolbox
        self._turns: list[RunningTurn] = []
        """Those who listen to the turn that is under way."""
        self._turn_observers: list[Callable[[RunningTurn], None]] = []
        self.late: deque[Message] = deque(maxlen=_LATE_KEPT)
        """What came for a turn when it was over; the newest."""
        self._between: deque[Message] = deque(maxlen=_LATE_KEPT)
        """What was said between turns: the next one begins with it."""
        self._ended: deque[str] = deque(maxlen=_ENDED_KEPT)
        self.members: set[str] = {facts.session_id}
        """Itself and the sessions of the agents that work for it."""
        self.was_asked = False
        """Whether it has had a turn; before that there is nothing to resume."""
        self.given_up: set[str] = set()
        """Turns that we have ended, and that the agent may still be at."""
        self._unanswered: list[RunningTurn] = []
        """Turns that we have ended before the agent had said that it takes them up."""
        self.grants = Grants()
        """What was allowed for as long as it is open."""
        self.commands_seen = CommandLog(facts.cwd or opening.cwd)
        self.lost: DragomanError | None = None
        """Why it could not be carried over to another process."""

    @property
    def id(self) -> str:
        return self.facts.session_id

    @property
    def cwd(self) -> str | None:
        return self.facts.cwd or self.opening.cwd

    @property
    def turn(self) -> RunningTurn | None:
        """The turn that is under way."""
        return self._turns[0] if self._turns else None

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return bool(self._turns)

    # Turns.

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
        """Ask; iterate over what is returned for the messages, or await it for the result.

        While a turn is under way the agent takes it as a word to that turn, and what is returned
        listens to the rest of it; also when the turn before was not read to its end.
        """
        intent = intents.StartTurn(
            session_id=self.id,
            text=check_prompt(text, images),
            images=self._agent.check_images(images),
            model=model,
            effort=effort,
            cwd=self._agent.check_workspace(cwd) if cwd is not None else None,
            sandbox_policy=dict(sandbox_policy) if sandbox_policy is not None else None,
            output_schema=dict(output_schema) if output_schema is not None else None,
        )
        return self._turn(intent)

    def compact(self) -> RunningTurn:
        """Replace the conversation so far by a summary."""
        return self._turn(intents.Compact(session_id=self.id))

    def review(self, target: Mapping[str, Any] | None = None) -> RunningTurn:
        """Have code reviewed: what is not committed, unless ``target`` says otherwise."""
        return self._turn(intents.Review(session_id=self.id, target=dict(target or {})))

    def observe_turns(self, observer: Callable[[RunningTurn], None]) -> None:
        """Call this with every turn that the agent starts by itself, to report on a task in the
        background for example, or that another client of the agent starts. It must be quick."""
        self._turn_observers.append(observer)

    async def turns(self) -> AsyncGenerator[RunningTurn]:
        """The turns that the agent starts by itself from now on, each to be iterated or awaited."""
        begun: asyncio.Queue[RunningTurn] = asyncio.Queue()
        self.observe_turns(begun.put_nowait)
        try:
            while True:
                yield await begun.get()
        finally:
            self._turn_observers.remove(begun.put_nowait)

    def _turn(self, intent: intents.StartTurn | intents.Compact | intents.Review) -> RunningTurn:
        def begin(turn: RunningTurn) -> Awaitable[str | None]:
            # At once: an interrupt from now on means this turn.
            self._turns.append(turn)
            return started(turn)

        async def started(turn: RunningTurn) -> str | None:
            between, self._between = self._between, deque(maxlen=_LATE_KEPT)
            for message in between:
                turn.on_message(message, own=True)
            is_begun = False
            try:
                turn_id = await self._begin(turn, intent)
                is_begun = True
            finally:
                if not is_begun and turn in self._turns:
                    self._turns.remove(turn)
                    self._between.extendleft(reversed(between))
                    self._release(turn)
            return turn_id

        return RunningTurn(begin)

    async def _begin(
        self, turn: RunningTurn, intent: intents.StartTurn | intents.Compact | intents.Review
    ) -> str | None:
        await self.worker.settled(self._agent.timeouts.read)
        if self.lost is not None:
            raise self.lost
        await self._settled()
        if not turn.is_awaited:
            raise TurnInterrupted("the turn was given up before it began")
        # The session may have got another name from a restart.
        here = msgspec.structs.replace(intent, session_id=self.id)
        turn.is_asked = turn.is_unanswered = True
        try:
            value = await self.worker.ask(here, seconds=self._patience())
        finally:
            turn.is_unanswered = False
        self.was_asked = True
        turn_id = value if isinstance(value, str) else None
        turn.id = turn.id or turn_id
        self._release(turn)
        if turn.ended is not None and turn_id not in (None, turn.ended.turn_id):
            # The agent took it up after all, when we had given it up.
            self._ended.append(turn_id)
            self.worker.give_up(self, turn_id)
        return turn_id

    def _patience(self) -> float | None:
        """How long an agent may take to take up a prompt: it may first finish a turn of its own."""
        limits = self._agent.timeouts
        is_busy = any(turn.is_by_agent for turn in self._turns)
        return max(limits.read, limits.turn or _LONGEST_TURN) if is_busy else None

    def _release(self, turn: RunningTurn) -> None:
        """The agent has answered whether and as which turn it takes up a prompt: deliver what was held."""
        held, turn.held = turn.held, []
        if turn.id is None and turn in self._turns:
            turn.id = next((each.turn_id for each in held if type(each) is TurnStarted), None)
        known = {each.id for each in self._turns} | {*self._ended, *self.given_up}
        is_last = not any(each.is_unanswered for each in self._turns)
        for message in held:
            if message.turn_id == turn.id and turn.id is not None:
                self._deliver(message, turn, own=True)
            elif is_last and message.turn_id not in known:
                self.on_message(message)

    async def _settled(self) -> None:
        """Wait, with a bound, until the agent has ended what we gave up: a late interrupt must not
        reach the next turn, nor may the next prompt be taken as a word to the old turn."""
        seconds = self._agent.timeouts.read
        for turn in list(self._unanswered):  # those before this one, which may be given up as well
            await turn.answered()
            if turn in self._unanswered:
                self._unanswered.remove(turn)
        for turn_id in list(self.given_up):
            end = intents.AwaitTurnEnd(session_id=self.id, turn_id=turn_id)
            check = intents.CheckTurn(session_id=self.id, turn_id=turn_id)
            try:
                await self.worker.ask(end, seconds=seconds)
            except ResponseTimeout:  # unless only the word of its end was lost
                with suppress(Unsupported):
                    if await self.worker.ask(check, seconds=seconds) is not None:
                        self.given_up.discard(turn_id)
                        continue
                raise ResponseTimeout(
                    f"the agent is still at a turn that was interrupted {seconds:g} seconds ago"
                ) from None
            self.given_up.discard(turn_id)

    async def steer(self, text: str, *, images: Sequence[str | os.PathLike[str]] = ()) -> None:
        """Say something to the agent while it works."""
        turn = self._running_turn()
        await self.worker.ask(
            intents.Steer(
                session_id=self.id,
                turn_id=turn.id or "",
                text=text,
                images=self._agent.check_images(images),
            ),
            seconds=self._patience(),
        )

    async def interrupt(self, *, keep_commands: bool = False) -> list[RunningCommand]:
        """Stop the turn: it ends as ``interrupted`` within two seconds, by the agent or by us.

        The commands that it has running are stopped as well and returned, unless ``keep_commands``.
        """
        turn = self.turn
        if turn is None:
            return []
        turn.keeps_commands, turn.is_stopped_by_us = keep_commands, True
        # Some releases end the command and leave what it has started: it is looked for before.
        finder = None if keep_commands else self.worker.processes_of(self)
        known = finder.find(turn.began_at) if finder is not None else []
        named = finder.describe(known) if finder is not None else []
        await self._interrupt(turn)
        if keep_commands:
            return []
        try:
            return await self._stop_commands(turn, known, named)
        except (AgentError, Unsupported):  # an agent elsewhere, which is gone or cannot do it
            return []

    async def _interrupt(self, turn: RunningTurn) -> None:
        seconds = self._agent.timeouts.interrupt
        try:
            async with asyncio.timeout(seconds):
                await turn.begin()
                await stop(
                    await self.worker.settled(seconds),
                    lambda: intents.Interrupt(session_id=self.id, turn_id=turn.id or ""),
                    seconds=seconds,
                )
                await turn.over()
        except (TimeoutError, AgentError):
            if turn in self._turns:
                if turn.id is None:
                    self._unanswered.append(turn)
                self.worker.end_turn(self, "interrupted")
                self.worker.give_up(self, turn.id)

    def commands(self) -> list[RunningCommand]:
        """The commands that this session has running, as far as can be seen."""
        finder = self.worker.processes_of(self)
        if finder is not None:
            return finder.describe(finder.find())
        return [RunningCommand(command=command) for command in self.commands_seen.running()]

    async def stop_commands(self, turn: RunningTurn | None = None) -> list[RunningCommand]:
        """Stop the commands that this session, or one turn of it, has running; which they were.

        Those of other sessions on the same agent go on.
        """
        return await self._stop_commands(turn, [], [])

    async def _stop_commands(
        self, turn: RunningTurn | None, known: list[Stat], named: list[RunningCommand]
    ) -> list[RunningCommand]:
        since = turn.began_at if turn is not None else 0
        finder = self.worker.processes_of(self)
        if finder is not None:
            found = finder.describe(finder.find(since))
            stopped = list({each.pid: each for each in [*found, *named]}.values())
            left = await end(lambda: finder.find(since), known)
        else:
            stopped, left = await self._ask_to_stop(turn), []
        if stopped:
            notice = stopped_notice(stopped, [stat.pid for stat in left])
            turn_id = turn.id if turn is not None else None
            notice = msgspec.structs.replace(notice, session_id=self.id, turn_id=turn_id)
            self._agent.publish([notice])
        return stopped

    async def _ask_to_stop(self, turn: RunningTurn | None) -> list[RunningCommand]:
        """For an agent whose processes we cannot see: it knows its commands itself."""
        limits = self._agent.timeouts
        seconds = limits.read if turn is None else limits.interrupt
        calls = turn.abandoned if turn is not None else ()
        running = [str(call.input.get("command")) for call in calls if call.tool == BASH]
        running = running if turn is not None else self.commands_seen.running()
        if running or turn is None:
            await self.worker.ask(intents.StopCommands(session_id=self.id), seconds=seconds)
        return [RunningCommand(command=command) for command in running]

    # The session as a whole.

    async def fork(self) -> Session:
        """A new session that begins with all that was said in this one."""
        opening = msgspec.structs.replace(
            self.opening, fork=self.id, resume=None, or_new=False, session_id=None
        )
        return await self._agent.open(opening, self.toolbox)

    async def rename(self, name: str) -> None:
        await self.worker.ask(intents.Rename(session_id=self.id, name=name))

    async def archive(self, *, archived: bool = True) -> None:
        await self.worker.ask(intents.Archive(session_id=self.id, archived=archived))

    async def read(self, *, turns: bool = True) -> AgentSession:
        """The session as the harness keeps it."""
        return await self.worker.ask(intents.ReadSession(session_id=self.id, turns=turns))

    async def close(self, *, keep_commands: bool = False) -> list[RunningCommand]:
        """End it: its turn, the commands that it has running, and what was allowed for its duration.

        It stays on disk and can be resumed. Returns the commands that were stopped; ``keep_commands``
        leaves them running.
        """
        stopped = await self.interrupt(keep_commands=keep_commands)
        if not keep_commands and self.worker.state == "running":
            with suppress(AgentError, Unsupported):  # an agent that is gone has taken them along
                stopped += await self.stop_commands()
        self.grants.clear()
        self._agent.forget(self)
        await self._agent.let_go(self.worker, self.id)
        return stopped

    # From the agent.

    def on_message(self, message: Message) -> None:
        """A message of this session, or of an agent that works for it."""
        turns = self._turns
        if type(message) in _AT_WORK:
            self.commands_seen.see(message)
        if len(turns) == 1 and message.turn_id == turns[0].id and type(message) not in _SETTLING:
            turns[0].on_message(message, own=True)  # most of what comes, and nothing to settle
            return
        own = message.session_id == self.id
        if isinstance(message, SessionStarted) and own and message.model:
            self.facts = msgspec.structs.replace(self.facts, model=message.model)
        listening = [turn for turn in self._turns if not (own and self._is_late(message, turn))]
        if own and isinstance(message, TurnEnded) and message.error is not None:
            self._see_why(message.error, listening)
        if own and not listening and self._is_by_agent(message):
            listening = [self._take_up(message)]
        if not listening:
            (self.late if message.turn_id is not None else self._between).append(message)
            return
        for turn in listening:
            if own and turn.is_unanswered and turn.id is None and message.turn_id is not None:
                # It may be a turn that the agent starts by itself, or one that is under way: the
                # answer says which turn the prompt is part of.
                turn.held.append(message)
            else:
                self._deliver(message, turn, own=own)

    def _is_by_agent(self, message: Message) -> bool:
        """Whether a turn begins that we have not asked for; not one that was asked for and given up."""
        if type(message) is not TurnStarted or message.turn_id is None:
            return False
        if message.turn_id in self._ended or message.turn_id in self.given_up:
            return False
        return all(turn.is_answered for turn in self._unanswered)

    def _take_up(self, message: Message) -> RunningTurn:
        turn = RunningTurn.by_agent(message.turn_id, is_read=bool(self._turn_observers))
        self._turns.append(turn)
        self.was_asked = True
        for each in self._between:
            turn.on_message(each, own=True)
        self._between.clear()
        for observer in self._turn_observers:
            with CallOutcome() as outcome:
                observer(turn)
            if outcome.error is not None:
                _log.error("an observer of turns failed", exc_info=outcome.error)
        return turn

    def _deliver(self, message: Message, turn: RunningTurn, *, own: bool) -> None:
        if own and turn.id is None and message.turn_id is not None:
            turn.id = message.turn_id
        if own and isinstance(message, TurnEnded):
            if turn in self._turns:
                self._turns.remove(turn)
            if message.turn_id is not None and message.turn_id not in self._ended:
                self._ended.append(message.turn_id)
            for call in turn.abandoned if message.outcome == "interrupted" else ():
                if call.tool == BASH:
                    turn.on_message(left_running(call, message, kept=turn.keeps_commands), own=True)
            if message.outcome == "interrupted" and not turn.is_stopped_by_us:
                self._agent.cut_off.append(
                    (self, turn)
                )  # by a decision, or outside of this program
        turn.on_message(message, own=own)

    def _see_why(self, error: TurnError, turns: list[RunningTurn]) -> None:
        exchange = self.worker.exchange
        if exchange is None or error.kind not in _OF_THE_PROCESS:
            return
        gone = exchange.gone()
        for turn in turns:
            turn.stderr = gone.stderr
            turn.exit_code = gone.exit_code if error.kind == "port_exit" else None

    def end_turns(
        self, outcome: Outcome, error: TurnError | None = None, *, taken_up: bool = False
    ) -> None:
        """End what turns are still open, whatever is known of them: nothing more will come.

        With ``taken_up`` only those that the agent had taken up; requests for the others raise.
        """
        for turn in [turn for turn in self._turns if turn.id is not None or not taken_up]:
            ended = TurnEnded(session_id=self.id, turn_id=turn.id, outcome=outcome, error=error)
            if error is not None:
                self._see_why(error, [turn])
            self._deliver(ended, turn, own=True)

    def _is_late(self, message: Message, turn: RunningTurn) -> bool:
        if message.turn_id is None:
            return False
        if turn.id is not None:
            return message.turn_id != turn.id
        # Before the agent was asked, a turn that it begins is one that we have given up.
        return not turn.is_asked or message.turn_id in self._ended

    def renewed(self, facts: intents.SessionFacts) -> None:
        """The session was resumed on another process: its turns are counted from the start."""
        self.facts = facts
        self.members.add(facts.session_id)
        self._ended.clear()

    def _running_turn(self) -> RunningTurn:
        if self.turn is None:
            raise ProtocolError("no turn is under way")
        return self.turn
