"""The contract for writing a native session: a conversation in, the lines of a file out, and what they do not carry.

A written session is one that the harness's own program resumes. Nothing here does I/O or has a clock: the caller
chooses the id from :attr:`Writer.new_id`, passes the time, and puts the file in place.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from dragoman.harnesses.contract.conversation import Release
from dragoman.model.messages import Outcome, Plan, Prompt, Text, Thinking, TurnError

if TYPE_CHECKING:
    from dragoman.model.turns import Use  # not needed by those who only list harnesses

    Part: TypeAlias = Prompt | Text | Thinking | Use | Plan


class HandedTurn(msgspec.Struct, kw_only=True):
    """One turn of a conversation that is handed off: its parts in order."""

    number: int
    """Its place among the turns of the source session, counted from 1."""
    parts: list[Part] = []
    outcome: Outcome | None = None
    error: TurnError | None = None
    at: datetime | None = None
    """When it ended."""


class HandedConversation(msgspec.Struct, kw_only=True):
    """The current conversation: without turns that were undone, and from the last compaction on."""

    turns: list[HandedTurn] = []
    summary: str | None = None
    """The summary of the turns before the first one, if the conversation was compacted."""


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """Content that the new session does not have, or has in another form."""

    kind: str
    """``thinking``, ``images``, ``tools``, ``context`` …; see docs/handoff.md."""
    count: int
    detail: str
    """What happened to it, as a sentence without its count."""
    names: tuple[str, ...] = ()
    """The tools concerned, if any."""
    kept: bool = False
    """Whether it is carried over in another form."""

    @property
    def sentence(self) -> str:
        """The detail with the tools concerned."""
        return f"{self.detail}: {', '.join(self.names)}" if self.names else self.detail


class SourceSession(msgspec.Struct, frozen=True, kw_only=True):
    """Where a conversation comes from."""

    harness: str
    session_id: str


class NewSession(msgspec.Struct, frozen=True, kw_only=True):
    """The session to write."""

    session_id: str
    at: datetime
    cwd: str
    """Absolute, without symbolic links."""
    release: Release | None
    """The release of the program that will resume it; None if that is not known."""
    source: SourceSession
    settings: bytes = b""
    """The content of the program's settings file, if it has one."""


class WrittenSession(msgspec.Struct, frozen=True, kw_only=True):
    """A native session, not yet on disk."""

    file: str
    """Its path below the harness's home, with slashes."""
    lines: tuple[bytes, ...]
    """Without their newlines."""
    losses: tuple[Loss, ...] = ()


class Writer(msgspec.Struct, frozen=True, kw_only=True):
    """How a harness's native sessions are written."""

    new_id: Callable[[datetime, bytes], str]
    """An id for a new session, from the time and 16 random bytes."""
    write: Callable[[HandedConversation, NewSession], WrittenSession]
    resume: Callable[[str], tuple[str, ...]]
    """The arguments with which a person resumes a session in the program's own interface."""
    since: Release | None = None
    """The first release that resumes such a session."""
