"""The interface of export formats: messages in, whole lines of bytes out.

A format is one module with one class. It may keep state between messages (which session, which call is open),
but it never reads a clock, a terminal or a file: everything else it needs comes from :class:`Options`.
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


def _nothing_masked() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A value that was masked in the export: everything about it except the value."""

    placeholder: str
    """The text in its place."""
    kind: str
    count: int
    lines: tuple[int, ...] = ()
    """The first source lines that contained it."""

    @property
    def where(self) -> str:
        shown = ", ".join(map(str, self.lines))
        more = " …" if self.count > len(self.lines) else ""
        return f"line{'s' * (len(self.lines) != 1)} {shown}{more}" if shown else "no line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings of an export."""

    include: frozenset[Include] = field(default_factory=frozenset)
    """What to show in addition to the conversation: ``context`` (instructions that the harness
    injected), ``deltas`` (streamed text), ``raw`` (unknown lines)."""
    color: bool = False
    """Whether the output is a terminal with colors."""
    width: int = 100
    """The width of the terminal."""
    source_line: Callable[[int], bytes | None] = _no_lines
    """The source line with this number, while it is still available (see ``wants_lines``)."""
    price: Callable[[str | None, Usage], str | None] = _no_price
    """The cost of these tokens of this model as text; none if unknown."""
    pid: Callable[[], int | None] = _no_process
    """The process of the agent, while it runs on this machine."""
    masked: Callable[[], Sequence[Masked] | None] = _nothing_masked
    """What has been masked so far; none if nothing is masked."""


class Exporter(Protocol):
    """One running conversion."""

    wants_lines: bool
    """Whether :attr:`Options.source_line` must work for this format."""

    def export(self, messages: Iterable[Message]) -> bytes:
        """Convert messages to zero or more whole lines, each with its newline."""
        ...

    def finish(self) -> bytes:
        """The rest of the output after the last message."""
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
    """Whether secrets are masked by default, because exports in this format are shared."""
