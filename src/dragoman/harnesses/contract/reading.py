"""The contract between a harness (one agent program) and the rest of the house.

A harness is a folder. For reading it offers *dialects*: each is a name, a word on where it comes
from, and a parser. A parser is given lines and asked for messages; it starts nothing, waits for
nothing and never raises because of a line's content. Lines, not bytes, are the boundary, so that a
line can be kept before it is understood and every message can name the line it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from dragoman.model.messages import Message
from dragoman.model.usage import Usage
from dragoman.wire.lines import LongLine

Ending: TypeAlias = Literal["over", "left", "growing"]
"""How a source ends. ``over``: nothing can follow, as when a process is gone. ``left``: a file that no program
writes at the moment; a later one may continue it. ``growing``: a program is still writing it."""


class Duplicate(NamedTuple):
    """A line that made no message of its own, and why: as a rule, which other line carries its content."""

    line: int
    reason: str


"""The earlier name, until every parser uses the new one."""


class Value(NamedTuple):
    """One value on a line, for checks that it was emitted."""

    place: str
    """Where it is, in words: ``item/started.item.command``."""
    value: Any
    forms: list[list[Any]]
    """The ways in which it may have been emitted: each is a list of parts that must all be emitted."""


class Mark(NamedTuple):
    """A place in a file from which it can be read on without what came before."""

    line: int
    """The first line to read again."""
    state: bytes
    """What a parser must know there, a few hundred bytes."""


class Parser(Protocol):
    """One stream being read: lines in, messages out, in two drains and without callbacks."""

    def receive_line(self, line: bytes) -> None:
        """Take the next line, with or without its newline. Never raises."""
        ...

    def receive_lines(self, lines: Iterable[bytes]) -> None:
        """Take the next lines, one after the other: the same, and quicker for many."""
        ...

    def receive_long_line(self, line: LongLine) -> None:
        """Take the place of a line that was too long to keep: it becomes ``malformed``."""
        ...

    def receive_eof(self, ending: Ending = "over") -> None:
        """There are no more lines: emit what was held back, and end what is known to have ended.

        A turn in a source that is still ``growing`` stays open. So does one in a session file that was
        ``left`` without the row that ends it, if files of that release have such a row.
        """
        ...

    def messages(self) -> list[Message]:
        """The messages made since the last call, in order."""
        ...

    def duplicates(self) -> list[Duplicate]:
        """The lines since the last call that made no message, each with the reason.

        Together with the ``line`` of every message this accounts for the whole stream. Only kept
        by a parser that was made with ``audit``.
        """
        ...


class MarkingParser(Parser, Protocol):
    """A parser that can name positions from which its file could be read on."""

    def marks(self) -> list[Mark]:
        """The marks made since the last call: one for each turn, where it begins, if it can be."""
        ...

    def spent_so_far(self) -> tuple[str | None, Usage] | None:
        """The session whose turn is open, and the tokens of that turn until now, if they are known."""
        ...


class PlainReader(Protocol):
    """Reads a plain session file for tokens, turns and sessions alone, quicker than a parser can.

    What is plain is the harness's own knowledge. Where the reader does not give up, its messages are
    those of a parser that was asked for ``usage``, ``turn_started`` and ``session_started``.
    """

    def receive_lines(self, lines: Iterable[bytes]) -> bool:
        """Take the next lines, as a parser does; False, once and for all, if they are not plain."""
        ...

    def receive_eof(self) -> None:
        """No more lines will come."""
        ...

    def messages(self) -> list[Message]:
        """The messages made since the last call, in order."""
        ...


class MakeParser(Protocol):
    def __call__(self, *, only: frozenset[str] | None, audit: bool) -> Parser:
        """A parser at the start of a stream.

        ``only`` names the message types that the caller wants: a parser may then skip whatever
        cannot become one of them. It may still make others, which the caller drops.
        """
        ...


class MakeMarkingParser(Protocol):
    def __call__(self, *, only: frozenset[str] | None, audit: bool) -> MarkingParser: ...


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One of the wire formats of a harness, current or past."""

    name: str
    summary: str
    releases: str
    """The releases that use it, as text: ``0.44.0 to today``."""
    make_parser: MakeParser
    mark: MakeMarkingParser | None = None
    """A parser that makes marks, where the dialect allows it."""
    resume: Callable[[Mark, frozenset[str] | None, bool], MarkingParser] | None = None
    """A parser whose next line is the marked one; then ``only`` and ``audit`` as for the others."""
    has_own_lines: bool = True
    """Whether a message's ``line`` is a line of this stream, and not of one it was made from."""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a dialect cannot carry, so that no one looks for it there."""

    dialect: str
    aspect: str
    """What is missing, as named in :mod:`dragoman.testing.likeness`."""
    why: str
    tools: tuple[str, ...] = ()
    """For the aspect ``calls``: the tools whose calls are missing."""
    since: str = "0.0.0"
    until: str = "9999.0.0"

    @property
    def what(self) -> str:
        """What is missing, in a few words."""
        return f"{self.aspect} ({', '.join(self.tools)})" if self.tools else self.aspect

    @property
    def releases(self) -> str:
        """The releases it holds for, in words."""
        since = f"{self.since} " if self.since != "0.0.0" else ""
        until = f"to {self.until}" if self.until != "9999.0.0" else "and later" if since else "all"
        return since + until

    def applies(self, dialect: str, release: str) -> bool:
        since, now, until = (
            tuple(int(part) for part in name.split("."))
            for name in (self.since, release, self.until)
        )
        return dialect == self.dialect and since <= now <= until
