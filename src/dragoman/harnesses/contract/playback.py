"""The contract for playing a recording as a harness: its live wires, written from messages.

Reading turns lines into messages; this is the way back, to run a client, a page or the harness's own
library against a recording. Nothing here has a clock: a timed message carries the seconds after the one
before it, and the caller passes the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from dragoman.model.messages import Message


class TimedMessage(NamedTuple):
    """A message, and how many seconds it comes after the one before it."""

    after: float
    message: Message


class TimedLine(NamedTuple):
    """A line without its newline, and how many seconds it comes after the one before it."""

    after: float
    line: bytes


class Performance(Protocol):
    """A server that plays a recording to one client."""

    def receive_line(self, line: bytes, now: float) -> None:
        """Take a line from the client. Never raises."""
        ...

    def lines_to_send(self, now: float) -> list[bytes]:
        """The lines that are due by now, each without its newline."""
        ...

    def due_at(self) -> float | None:
        """When there will be more to send; None if that depends on the client."""
        ...


class HttpPlayback(msgspec.Struct, frozen=True, kw_only=True):
    """What a server over HTTP does besides playing its lines; see ``HttpServer`` for how they look."""

    listening: Callable[[str], str]
    """What it prints when it listens at this address."""
    streams: tuple[str, ...]
    """The paths whose responses are streams of events."""
    password: str
    """The variable of its environment with the password that it demands."""


class Playback(msgspec.Struct, frozen=True, kw_only=True):
    """How to play a harness's program."""

    run: Callable[[Iterable[TimedMessage]], Iterable[TimedLine]]
    """The output of a program that runs one prompt and ends."""
    serve: Callable[[Sequence[TimedMessage]], Performance]
    """A server whose turns are those of a recording, one after the other."""
    http: HttpPlayback | None = None
    """Set if clients reach the server over HTTP, and not on standard input and output."""
    version_line: str
    """The program's answer to ``--version``."""
