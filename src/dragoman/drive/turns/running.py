"""A turn that is under way: its messages as they come, and what it came to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from dataclasses import dataclass, field

from dragoman.drive.process.session_commands import boot_ticks
from dragoman.drive.timeouts import Pulse, RunningTool
from dragoman.drive.turns.mailbox import Mailbox
from dragoman.errors import (
    AgentError,
    ProcessExited,
    ResponseError,
    Stalled,
    TurnFailed,
    TurnInterrupted,
    TurnTimeout,
)
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Delta,
    Level,
    Message,
    Notice,
    Outcome,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
)
from dragoman.model.usage import Usage

_OUTPUT_KEPT = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a turn came to."""

    session_id: str | None
    turn_id: str | None
    outcome: Outcome
    text: str
    """The agent's last word."""
    error: TurnError | None = None
    usage: Usage | None = None
    messages: list[Message] = field(default_factory=list[Message])
    stderr: str = ""
    """The last that the process wrote there, without secrets, if that may be why the turn failed."""
    exit_code: int | None = None
    """Of the process, if the turn failed because it is gone; negative: the signal that ended it."""

    def check(self) -> Result:
        """Itself, if the turn was completed; raises what went wrong otherwise."""
        if self.outcome == "completed":
            return self
        raise self.exception()

    def exception(self) -> AgentError:
        """Why the turn was not completed, as an exception with facts."""
        message = self.error.message if self.error else f"the turn was {self.outcome}"
        kind = self.error.kind if self.error else ""
        native = self.error.native if self.error else None
        match kind:
            case "stall_timeout":
                return Stalled(message, reason=native or "", stderr=self.stderr)
            case "turn_timeout":
                return TurnTimeout(message, stderr=self.stderr)
            case "port_exit":
                return ProcessExited(message, exit_code=self.exit_code, stderr=self.stderr)
            case "response_error":
                return ResponseError(message, stderr=self.stderr)
            case _ if self.outcome == "interrupted":
                return TurnInterrupted(message)
            case _:
                retryable = self.error.retryable if self.error else True
                return TurnFailed(message, kind=kind or "turn_failed", retryable=retryable)


class RunningTurn:
    """Iterate over it for the messages, or await it for the :class:`Result`.

    It starts when you do either. Every turn ends with exactly one ``turn_ended``, whatever
    happens to the agent; iterating does not raise because of the agent's output or its absence,
    only when the turn could not be started.

    To stop reading, or to be cancelled, does not stop the turn: ``session.interrupt()`` does.
    Until then its messages are kept, in memory and then in a file, for the next iteration.
    """

    def __init__(self, begin: Callable[[RunningTurn], Awaitable[str | None]]) -> None:
        self._begin = begin
        self._mailbox = Mailbox()
        self._begun: asyncio.Task[None] | None = None
        self._waiting = 0
        self._loop = asyncio.get_running_loop()
        self.id: str | None = None
        self.is_asked = False
        """Whether the agent has been asked to begin it."""
        self.is_unanswered = False
        """Whether it has been asked, and has not answered yet."""
        self.is_by_agent = False
        """Whether it was started by the agent itself, or by another client."""
        self.ended: TurnEnded | None = None
        self.stderr = ""
        self.exit_code: int | None = None
        """The stderr and exit code of the process, if the turn ended with it or because of it."""
        now = self._loop.time()
        self.pulse = Pulse(began_at=now, heard_at=now)
        self._calls: dict[str, ToolCall] = {}
        self._outputs: dict[str, str] = {}
        self._asked: set[str] = set()
        self.held: list[Message] = []
        """Messages that the session holds until it is known whether they belong to this turn."""
        self.abandoned: list[ToolCall] = []
        """Calls whose end was never reported."""
        self.keeps_commands = False
        """Whether its commands may go on when it is interrupted."""
        self.is_stopped_by_us = False
        """Whether :meth:`Session.interrupt` stops it, and its commands."""
        self.began_at = boot_ticks()
        """In the unit of a process's start time."""
        self._over: asyncio.Future[None] = self._loop.create_future()
        self.looked_at = now
        """When the server was last asked how this turn is doing."""

    @classmethod
    def by_agent(cls, turn_id: str | None, *, is_read: bool) -> RunningTurn:
        """A turn that is under way without our having asked. Messages are kept only if it ``is_read``."""

        async def nothing(turn: RunningTurn) -> str | None:
            return turn.id

        turn = cls(nothing)
        turn.id, turn.is_asked, turn.is_by_agent = turn_id, True, True
        if not is_read:
            turn._mailbox.close()
        return turn

    async def begin(self) -> None:
        """Ask the agent to begin; once. Raises when it will not.

        The caller may be cancelled: a request that was sent stays sent. It is bounded by
        the time that an answer may take.
        """
        if self._begun is None:
            if not self.is_by_agent:
                now = self._loop.time()
                self.pulse.began_at = self.pulse.heard_at = self.looked_at = now
                self.began_at = boot_ticks()
            self._begun = asyncio.ensure_future(self._ask_to_begin(self._begin(self)))
            self._begun.add_done_callback(self._see_whether_begun)
        self._waiting += 1
        try:
            # One that was given up may have ended before it started.
            await asyncio.wait((self._begun, self._over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting -= 1
        if self._over.done():
            return
        if self._begun.cancelled():
            raise TurnInterrupted("the turn was given up before it began")
        self._begun.result()

    async def answered(self) -> None:
        """Wait until the agent has answered the request to start it, whatever the answer."""
        if self._begun is not None:
            await asyncio.wait((self._begun,))

    @property
    def is_answered(self) -> bool:
        """Whether the agent has answered the request to begin it."""
        return self._begun is None or self._begun.done()

    @property
    def is_awaited(self) -> bool:
        """Whether anybody waits for it to begin."""
        return self._waiting > 0

    async def _ask_to_begin(self, asked: Awaitable[str | None]) -> None:
        turn_id = await asked
        self.id = self.id or turn_id

    def _see_whether_begun(self, begun: asyncio.Task[None]) -> None:
        if begun.cancelled() or begun.exception() is not None:
            self._mailbox.close()

    async def __aiter__(self) -> AsyncIterator[Message]:
        await self.begin()
        async for message in self._mailbox:
            yield message

    def __await__(self) -> Generator[object, None, Result]:
        return self._result().__await__()

    async def _result(self) -> Result:
        return self.result([message async for message in self])

    def result(self, messages: list[Message]) -> Result:
        """What these messages, its own, came to."""
        ended = self.ended
        texts = [m for m in messages if isinstance(m, Text) and self._is_own(m)]
        final = [text for text in texts if text.phase == "final_answer"] or texts
        return Result(
            session_id=ended.session_id if ended else None,
            turn_id=self.id,
            outcome=ended.outcome if ended else "interrupted",
            text=final[-1].text if final else "",
            error=ended.error if ended else None,
            usage=ended.usage if ended else None,
            messages=messages,
            stderr=self.stderr,
            exit_code=self.exit_code,
        )

    def _is_own(self, message: Message) -> bool:
        return self.ended is None or message.session_id == self.ended.session_id

    async def over(self) -> None:
        """Wait until the turn has ended."""
        await asyncio.shield(self._over)

    # From the session.

    def on_message(self, message: Message, *, own: bool) -> None:
        """A message of this turn, or of an agent that works for it."""
        self.pulse.deaf = False
        if type(message) is Notice and message.will_retry:
            self.pulse.trouble = message.text  # that it tries again is no progress
        else:
            self.pulse.heard_at, self.pulse.trouble = self._loop.time(), ""
        self._mailbox.put(message)
        if isinstance(message, Delta):
            if message.of == "output" and message.message_id in self._calls:
                kept = self._outputs.get(message.message_id, "") + message.text
                self._outputs[message.message_id] = kept[-_OUTPUT_KEPT:]
            return
        match message:
            case ToolCall():
                self._calls[message.call_id] = message
            case ToolResult():
                call = self._calls.pop(message.call_id, None)
                self._outputs.pop(message.call_id, None)
                if call is not None and message.status == "abandoned":
                    self.abandoned.append(call)
            case ApprovalRequested():
                self._asked.add(message.approval_id)
            case ApprovalSettled():
                self._asked.discard(message.approval_id)
            case TurnEnded() if own:
                self.ended = message
                self.id = self.id or message.turn_id
                self._mailbox.close()
                if not self._over.done():
                    self._over.set_result(None)
            case _:
                pass

    def fresh_pulse(self, *, gone: bool) -> Pulse:
        """The facts known about it now."""
        self.pulse.tools = [
            RunningTool(call.tool, _what(call), self._outputs.get(call.call_id, ""))
            for call in self._calls.values()
        ]
        self.pulse.asked = len(self._asked)
        self.pulse.gone = gone
        return self.pulse


def left_running(call: ToolCall, ended: TurnEnded, *, kept: bool) -> Notice:
    """The notice about a command that was running when its turn was stopped."""
    command = call.input.get("command")
    text = f"a command may still be running: {command}" if kept else f"stopping: {command}"
    level: Level = "warning" if kept else "info"
    return Notice(session_id=ended.session_id, turn_id=ended.turn_id, level=level, text=text)


def _what(call: ToolCall) -> str:
    for name in ("command", "query", "path", "file_path"):
        value = call.input.get(name)
        if isinstance(value, str) and value:
            return value
    return call.native_tool
