"""The contract for a live exchange with a harness: lines and intents in; messages, answers and lines out.

Everything here is sans I/O. A conversation takes the lines that arrive, and is asked for the messages
they made, for the answers to our intents, and for the lines to send. It starts nothing, waits for
nothing and has no clock. Processes, deadlines, retries and restarts belong to :mod:`dragoman.drive`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import msgspec

from dragoman.model.intents import Intent
from dragoman.model.messages import Message, Outcome, TurnError
from dragoman.wire.lines import LongLine

Release: TypeAlias = tuple[int, int, int]
Clock: TypeAlias = Callable[[], int]
"""Returns the time in whole seconds since 1970: time comes from outside."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why an intent was not carried out."""

    kind: str
    """One of the kinds of :class:`dragoman.errors.AgentError`: ``response_error``, ``turn_failed``,
    ``authority`` (the agent applied other permissions than were requested), ``unsupported`` …"""
    message: str
    retry: bool = False
    """The agent is overloaded, and the same intent may be submitted again later."""
    code: int | None = None


class Answer(NamedTuple):
    """The result of an intent: a value, or the refusal."""

    ticket: int
    value: Any = None
    refusal: Refusal | None = None


class ToolRequest(NamedTuple):
    """The model calls a tool of ours; the agent waits for the :class:`AnswerTool`."""

    session_id: str
    call_id: str
    tool: str
    namespace: str | None
    arguments: Any


class Conversation(Protocol):
    """One live exchange with one harness process, line by line. No I/O, no clock, no tasks."""

    def receive_line(self, line: bytes) -> None:
        """Take a line from the agent. Never raises."""
        ...

    def receive_long_line(self, line: LongLine) -> None:
        """Take the place of a line that was too long to keep."""
        ...

    def receive_eof(self) -> None:
        """The agent sends no more: every open intent is refused, every open turn ends."""
        ...

    def submit(self, intent: Intent) -> int:
        """Take an intent; its :class:`Answer` carries the ticket returned here.

        Raises :class:`dragoman.errors.Unsupported` for what this release cannot do.
        """
        ...

    def messages(self) -> list[Message]:
        """The messages since the last call, in order; those of lines we sent included."""
        ...

    def answers(self) -> list[Answer]:
        """The answers to our intents since the last call."""
        ...

    def tool_requests(self) -> list[ToolRequest]:
        """The calls of our own tools since the last call, each to be answered."""
        ...

    def lines_to_send(self) -> list[bytes]:
        """The lines to write since the last call, in order; each ends with a newline."""
        ...

    def end_turn(self, session_id: str, outcome: Outcome, error: TurnError | None = None) -> None:
        """End a turn that the agent does not end: lost, stalled, or not interrupted in time.

        Makes the turn's one ``turn_ended`` (and closes its open calls). Lines that still arrive for
        that turn do not start it again.
        """
        ...
