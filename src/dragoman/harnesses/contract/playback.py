"""The contract for playing a harness: its live wires, written from messages.

Reading turns lines into messages; this is the way back, for who wants to run a client, a page or the
harness's own library against a recording. Nothing here knows a clock: cues say after how many seconds
something is to be said, and a performance is told what time it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from dragoman.model.messages import Message


class Cue(NamedTuple):
    """A message, and how many seconds after the one before it is said."""

    after: float
    message: Message


class TimedLine(NamedTuple):
    """A line without its newline, and how many seconds after the one before it is said."""

    after: float
    line: bytes


class Performance(Protocol):
    """A server that plays a recording to one client."""

    def receive_line(self, line: bytes, now: float) -> None:
        """The client said something. Never raises, whatever it is."""
        ...

    def lines_to_send(self, now: float) -> list[bytes]:
        """What is due by now, each line without its newline."""
        ...

    def due_at(self) -> float | None:
        """When there will be more to send; None if that is up to the client."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """How to be a harness's program."""

    run: Callable[[Iterable[Cue]], Iterable[TimedLine]]
    """What a program that runs one prompt and ends prints."""
    serve: Callable[[Sequence[Cue]], Performance]
    """A server whose turns are those of a recording, one after the other."""
    stage_name: str
    """What the program answers to ``--version``."""
