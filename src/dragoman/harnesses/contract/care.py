"""The contract for looking after session files: what is wrong in one, and how it is put right. No I/O.

A checker is given every line of a file; then it knows what is wrong, and can make a mender, which is
given the same lines again and hands back those of the new file. What cannot be kept is *lost*: it goes
to a file of its own, so that nothing is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

FaultKind: TypeAlias = Literal[
    "unreadable", "torn", "nul", "header", "repeated", "ordinal", "turn", "time", "newline"
]


class Fault(NamedTuple):
    """Something that is wrong with a file."""

    line: int
    """Counted from 1; 0 for the file as a whole."""
    kind: FaultKind
    what: str
    is_broken: bool = True
    """False for what is odd, but hides nothing."""
    is_at_end: bool = False
    """Whether it may be no fault at all if the file is still being written."""


class Deed(NamedTuple):
    """Something that was done to put a file right."""

    line: int
    what: str


class Lost(NamedTuple):
    """Bytes of the old file that are not in the new one."""

    line: int
    problem: str
    raw: bytes


class Mender(Protocol):
    def receive_line(self, line: bytes) -> list[bytes]:
        """Take the next line of the old file; the lines of the new one, each without its newline."""
        ...

    def finish(self) -> list[bytes]: ...

    @property
    def deeds(self) -> list[Deed]: ...

    @property
    def lost(self) -> list[Lost]: ...


class Checker(Protocol):
    """One file, line by line. Memory does not grow with it."""

    def receive_line(self, line: bytes) -> None: ...

    def finish(self) -> list[Fault]:
        """Everything that is wrong, in the order of the lines."""
        ...

    @property
    def session_id(self) -> str | None:
        """The session that the file says it holds."""
        ...

    @property
    def last_ordinal(self) -> int | None:
        """The highest number of a row, in files whose rows are numbered."""
        ...

    def mender(self, named_id: str | None) -> Mender:
        """What puts the file right; ``named_id`` is the session in its name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """How the session files of one harness are looked after."""

    make_checker: Callable[[], Checker]
    place: Callable[[str, str | None], str]
    """Where, below the harness's home, a file of this name and session must lie to be found."""
    settings: Callable[[bytes], dict[str, str]]
    """The files, by name, that a home needs in which a session with this first line is only read."""
