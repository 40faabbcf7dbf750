"""One conversation over one link: lines in and out, answers matched with the callers that wait for them.

The link hands over lines as they arrive; the conversation turns them into messages, answers and lines to
send; this passes each on, at once and in order. Nothing here waits for a consumer. A caller waits for its
answer with a bound, and only a few requests are under way at a time: a server that gets too many at once
refuses some, and is asked again a little later.

A conversation may come from a plug-in. If it raises, its state is unknown: the exchange is over, as if
the process had ended, and the error is logged.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterable
from typing import Any, Protocol, runtime_checkable

from dragoman.drive.calling import Outcome as CallOutcome
from dragoman.drive.links.link import Exit, Link, OpenLink
from dragoman.errors import (
    AgentError,
    AuthorityMismatch,
    ProcessExited,
    ResponseError,
    ResponseTimeout,
    TurnFailed,
    Unsupported,
)
from dragoman.harnesses.contract.conversation import Answer, Conversation, Refusal, ToolRequest
from dragoman.model.intents import Intent
from dragoman.model.messages import Message, Outcome, TurnError
from dragoman.wire.lines import LongLine

_log = logging.getLogger(__name__)
REQUESTS_AT_ONCE = 32
"""How many requests may be under way; a Codex server refuses some of 200 at once."""
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0


class Keeper(Protocol):
    """Keeps lines before they are understood: a journal."""

    def received(self, lines: Iterable[bytes | LongLine]) -> None: ...

    def sent(self, lines: Iterable[bytes]) -> None: ...


@runtime_checkable
class EndingKeeper(Protocol):
    """Keeps the lines of one process, and is closed when no more will come."""

    def end(self) -> None: ...


class Exchange:
    """A conversation with a process, or a server, that is there."""

    def __init__(
        self,
        conversation: Conversation,
        on_messages: Callable[[list[Message]], None],
        run_tool: Callable[[ToolRequest], None],
        lost: Callable[[Exchange], None],
        journal: Keeper | None = None,
    ) -> None:
        self._conversation = conversation
        self._on_messages = on_messages
        self._run_tool = run_tool
        self._lost = lost
        self.journal = journal
        self._link: Link | None = None
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._gate = asyncio.Semaphore(REQUESTS_AT_ONCE)
        self._loop = asyncio.get_running_loop()
        self._over = False
        self.fault: str | None = None
        """The error that the conversation raised."""
        self.heard_at = self._loop.time()
        """The time of the last line received, on the loop's clock."""

    @property
    def link(self) -> Link | None:
        return self._link

    @property
    def is_over(self) -> bool:
        return self._over

    async def open(self, open_link: OpenLink) -> None:
        """Open the link. Raises :class:`AgentError` when that fails."""
        self._link = await open_link(self._receive, self._closed)
        self.pump()

    async def close(self) -> Exit | None:
        """Close the link, and leave no process behind."""
        ended = await self._link.stop() if self._link is not None else None
        self._end_journal()
        return ended

    def _end_journal(self) -> None:
        if isinstance(self.journal, EndingKeeper):
            self.journal.end()

    # Asking.

    async def ask(self, intent: Intent, *, seconds: float) -> Any:
        """Submit an intent and wait for its answer, at most ``seconds``.

        Raises an :class:`AgentError` when it is refused, not answered, or the agent is gone,
        and :class:`Unsupported` for what this release cannot do.
        """
        name = type(intent).__name__
        try:
            async with asyncio.timeout(seconds), self._gate:
                return await self._ask(intent)
        except TimeoutError:
            raise ResponseTimeout(
                f"the agent did not answer {_words(name)} within {seconds:g} seconds",
                stderr=self.stderr,
            ) from None

    async def _ask(self, intent: Intent) -> Any:
        pause = _FIRST_PAUSE
        while True:
            ticket = self._submit(intent)
            answer = self._loop.create_future()
            self._waiting[ticket] = answer
            try:
                with CallOutcome() as pumped:
                    self.pump()
                self._fail(pumped)
                _, value, refusal = await answer
            finally:
                self._waiting.pop(ticket, None)
            if refusal is None:
                return value
            if not refusal.retry:
                raise self._error(refusal)
            # So that many who were turned away do not all come back at once.
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, _LONGEST_PAUSE)

    def submit(self, intent: Intent) -> None:
        """Submit an intent without waiting for its answer. Never raises."""
        if self._over:
            return
        with CallOutcome() as submitted:
            self._conversation.submit(intent)
            self.pump()
        # No caller waits: an unsupported intent is dropped.
        if submitted.error is not None and not isinstance(submitted.error, Unsupported):
            self._fail(submitted)

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None) -> None:
        """End a turn that the other side does not end. Never raises."""
        with CallOutcome() as ended:
            self._conversation.end_turn(session_id, outcome, error)
            self.pump()
        self._fail(ended)

    def _submit(self, intent: Intent) -> int:
        if self._over:
            raise self.gone()
        return self._conversation.submit(intent)

    # What comes.

    def _receive(self, lines: list[bytes | LongLine]) -> None:
        if self._over:
            return  # the process may go on after its conversation has failed
        self.heard_at = self._loop.time()
        if self.journal is not None:
            self.journal.received(lines)
        with CallOutcome() as received:
            receive = self._conversation.receive_line
            for line in lines:
                if isinstance(line, LongLine):
                    self._conversation.receive_long_line(line)
                else:
                    receive(line)
            self.pump()
        self._fail(received)

    def _closed(self) -> None:
        if self._over:
            return
        self._over = True
        with CallOutcome() as ended:
            self._conversation.receive_eof()
            self.pump()
        self._fail(ended)
        self._end_journal()
        for waiting in self._waiting.values():
            if not waiting.done():  # the conversation owes an answer to each, and gave none
                waiting.set_exception(self.gone())
        self._lost(self)

    def _fail(self, outcome: CallOutcome) -> None:
        """End the exchange if the conversation raised. The worker then stops the process."""
        if outcome.error is None:
            return
        _log.error("the conversation with the agent failed", exc_info=outcome.error)
        self.fault = self.fault or outcome.problem
        self._closed()

    def pump(self) -> None:
        """Pass on what the conversation has made of the lines and of our wishes."""
        conversation = self._conversation
        lines = conversation.lines_to_send()
        if lines and self._link is not None and not self._over:
            if self.journal is not None:
                self.journal.sent(lines)
            self._link.send(lines)
        messages = conversation.messages()
        if messages:
            self._on_messages(messages)
        for request in conversation.tool_requests():
            self._run_tool(request)
        for answer in conversation.answers():
            waiting = self._waiting.get(answer.ticket)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)

    # What went wrong.

    @property
    def stderr(self) -> str:
        return self._link.stderr_tail if self._link is not None else ""

    def gone(self) -> ProcessExited:
        """The error for requests on a closed link."""
        if self.fault is not None:
            return ProcessExited(
                f"the conversation with the agent failed: {self.fault}", stderr=self.stderr
            )
        ended = self._link.exit if self._link is not None else None
        reason = ended.reason if ended is not None and ended.reason else "is gone"
        code = ended.code if ended is not None else None
        return ProcessExited(f"the agent's process {reason}", exit_code=code, stderr=self.stderr)

    def _error(self, refusal: Refusal) -> AgentError | Unsupported:
        match refusal.kind:
            case "port_exit":
                return self.gone()
            case "unsupported":
                return Unsupported(refusal.message)
            case "authority":
                return AuthorityMismatch(refusal.message, code=refusal.code)
            case "turn_failed":
                return TurnFailed(refusal.message, retryable=False)
            case _:
                return ResponseError(refusal.message, code=refusal.code, stderr=self.stderr)


def _words(name: str) -> str:
    """``OpenSession`` as ``open session``."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
