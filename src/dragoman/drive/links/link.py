"""What a connection to an agent is to the rest of the engine room: lines in, lines out, an end.

A process we started, a socket we attached to and a shell on another machine all look like this. What
comes is handed over as soon as it is there, in the event loop's thread, whatever the consumer does
with it; what goes out is buffered and never blocks the caller.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from dragoman.wire.lines import LongLine

Receive: TypeAlias = Callable[[list[bytes | LongLine]], None]
"""Called with the lines of each chunk that arrives. Must not block and must not raise."""
Closed: TypeAlias = Callable[[], None]
"""Called once, when no more lines will come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a link came to its end."""

    code: int | None = None
    """The exit code of the process, negative for the signal that ended it; None without a process."""
    reason: str = ""
    """In words: ``exited with status 1``, ``killed by SIGKILL``, ``the server closed the socket``."""


class Link(Protocol):
    """An open connection."""

    @property
    def pid(self) -> int | None:
        """The process on this machine, if there is one."""
        ...

    @property
    def is_supervised(self) -> bool:
        """Whether that process is a supervisor of ours, which the agent is below."""
        ...

    @property
    def exit(self) -> Exit | None:
        """None while it is open."""
        ...

    @property
    def stderr_tail(self) -> str:
        """The last lines of the process's standard error, without secrets."""
        ...

    def send(self, lines: Iterable[bytes]) -> None:
        """Write lines, soon. Lines for a closed link are dropped."""
        ...

    async def drained(self) -> None:
        """Wait until what was sent is on its way. Bounded by the caller."""
        ...

    async def stop(self) -> Exit:
        """Close it and leave no process behind. Bounded; never raises."""
        ...


OpenLink: TypeAlias = Callable[[Receive, Closed], Awaitable[Link]]
"""Opens a link. Raises :class:`dragoman.errors.AgentError`."""
