"""What every export format is: messages in, whole lines of bytes out.

A format is one module with one class. It may remember what it needs between messages (which session,
which call is open), but it never looks at a clock, a terminal or a file: what it has to know of the
outside comes in through :class:`Options`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from dragoman.model.messages import Message
from dragoman.model.usage import Usage

Include: TypeAlias = Literal["context", "deltas", "raw"]


def _no_lines(_number: int) -> bytes | None:
    return None


def _no_price(_model: str | None, _usage: Usage) -> str | None:
    return None


def _no_process() -> int | None:
    return None


def _nobody_looked() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """Something that was taken out of what is exported: all about it but itself."""

    placeholder: str
    """What stands in its place."""
    kind: str
    count: int
    lines: tuple[int, ...] = ()
    """The first source lines that it was in."""

    @property
    def where(self) -> str:
        shown = ", ".join(map(str, self.lines))
        more = " …" if self.count > len(self.lines) else ""
        return f"line{'s' * (len(self.lines) != 1)} {shown}{more}" if shown else "no line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a format may be told."""

    include: frozenset[Include] = field(default_factory=frozenset)
    """What to show beyond the conversation itself: ``context`` (instructions the harness
    injected), ``deltas`` (pieces of text as they stream), ``raw`` (lines we have no word for)."""
    color: bool = False
    """Whether the reader is a terminal that understands colour."""
    width: int = 100
    """How wide the reader's terminal is."""
    source_line: Callable[[int], bytes | None] = _no_lines
    """The source line with this number, while it is still at hand (see ``wants_lines``)."""
    price: Callable[[str | None, Usage], str | None] = _no_price
    """What so many tokens of this model cost, in words; none if that is not known."""
    pid: Callable[[], int | None] = _no_process
    """The process of the agent, while it runs on this machine."""
    masked: Callable[[], Sequence[Masked] | None] = _nobody_looked
    """What has been masked so far; none if the messages come as they are."""


class Exporter(Protocol):
    """One conversion under way."""

    wants_lines: bool
    """Whether :attr:`Options.source_line` must work for this format."""

    def export(self, messages: Iterable[Message]) -> bytes:
        """The messages in this format: no, one or many whole lines, each with its newline."""
        ...

    def finish(self) -> bytes:
        """What is left to say when no more messages will come."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format by name, for lists and help texts."""

    name: str
    summary: str
    make: Callable[[Options], Exporter]
    ends_open_turns: bool = True
    """Whether a turn that the stream left open is ended when the stream ends."""
    redacts: bool = False
    """Whether secrets are masked unless somebody says otherwise: it is made to be handed on."""
