"""Everything that one agent program offers, in one value: reading, driving, history, playback, care."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from dragoman.harnesses.contract.capabilities import Capabilities
from dragoman.harnesses.contract.care import Care
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.history import History
from dragoman.harnesses.contract.playback import Playback
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.reading import Dialect, Limit, PlainReader, Value
from dragoman.harnesses.contract.transport import Transport
from dragoman.harnesses.contract.writer import Writer


def _offers_nothing(release: Release | None) -> Capabilities:
    return Capabilities()


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    """One agent program: how to read it, and how to drive it.

    A harness with a ``program`` and at least one transport can be driven; any other is only read.
    """

    name: str
    title: str
    dialects: tuple[Dialect, ...]
    sniff: Callable[[Sequence[bytes]], str | None]
    """The dialect of a stream that starts with these lines, or None while it is still open.

    Called again with more lines until it answers, so it must not wait for certainty when a line
    is already decisive."""

    settle: Callable[[Sequence[bytes]], str | None] | None = None
    """The dialect of a whole stream that ``sniff`` could not decide about, or None."""

    values: Callable[[bytes, str], Iterable[Value]] | None = None
    """The values on a line that some message has to hold, for an audit; and the rule that makes it a duplicate."""

    plain: Callable[[bytes], PlainReader | None] | None = None
    """A quick reader for a file that begins with these bytes, if it looks plain."""

    limits: tuple[Limit, ...] = ()
    """What the dialects cannot carry: written down once, shown to users, read by the tests."""

    capabilities: Callable[[Release | None], Capabilities] = _offers_nothing
    """What a release offers to people; without a release, what the newest known one does."""

    program: Program | None = None
    """How its program is found; None if it is only read."""

    transports: tuple[Transport, ...] = ()
    """The ways to drive it, the usual one first."""

    playback: Playback | None = None
    """How its live wires are written, to play it from a recording; None if that is not possible."""

    care: Care | None = None
    """How its session files are checked and repaired; None if that is not possible."""

    history: History | None = None
    """Where it keeps its sessions; None for a program that keeps none."""

    writer: Writer | None = None
    """How a conversation is written as one of its native sessions; None if that is not possible."""

    def dialect(self, name: str) -> Dialect | None:
        return next((dialect for dialect in self.dialects if dialect.name == name), None)

    def transport(self, name: str | None = None) -> Transport | None:
        """The transport of this name, or the usual one."""
        if name is None:
            return self.transports[0] if self.transports else None
        return next((each for each in self.transports if each.name == name), None)
