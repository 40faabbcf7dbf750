"""The contract for the care of session files: what is wrong with one, and how to repair it. No I/O.

A checker receives every line of a file. Then it knows what is wrong, and can create a repairer, which
receives the same lines again and returns those of the new file. What the new file cannot hold is
*dropped*: it goes to a file of its own, so that nothing is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, TypeAlias

import msgspec

FaultKind: TypeAlias = Literal[
    "unreadable",
    "torn",
    "nul",
    "header",
    "repeated",
    "ordinal",
    "chain",
    "turn",
    "time",
    "newline",
]


class Fault(NamedTuple):
    """Something that is wrong with a file."""

    line: int
    """Counted from 1; 0 for the file as a whole."""
    kind: FaultKind
    what: str
    is_broken: bool = True
    """False for an oddity that hides no content."""
    is_at_end: bool = False
    """Whether it may be no fault at all if the file is still being written."""


class RepairAction(NamedTuple):
    """Something that was done to repair a file."""

    line: int
    what: str


class Dropped(NamedTuple):
    """Bytes of the old file that are not in the new one."""

    line: int
    problem: str
    raw: bytes


class Repairer(Protocol):
    """One file being repaired, line by line."""

    def receive_line(self, line: bytes) -> list[bytes]:
        """Take the next line of the old file. Return lines of the new one, each without its newline."""
        ...

    def finish(self) -> list[bytes]: ...

    @property
    def actions(self) -> list[RepairAction]: ...

    @property
    def dropped(self) -> list[Dropped]: ...


class Checker(Protocol):
    """One file, line by line. Its memory does not grow with the file's text."""

    def receive_line(self, line: bytes) -> None: ...

    def finish(self) -> list[Fault]:
        """Return everything that is wrong, in the order of the lines."""
        ...

    @property
    def session_id(self) -> str | None:
        """The session that the file belongs to, by its content."""
        ...

    @property
    def last_ordinal(self) -> int | None:
        """The highest number of a row, in files whose rows are numbered."""
        ...

    def repairer(self, named_id: str | None) -> Repairer:
        """Return what repairs the file; ``named_id`` is the session in its name."""
        ...


class Care(msgspec.Struct, frozen=True, kw_only=True):
    """How the session files of one harness are checked and repaired."""

    make_checker: Callable[[], Checker]
    place: Callable[[str, str | None], str]
    """Where, below the harness's home, a file of this name and session must lie to be found."""
    settings: Callable[[bytes], dict[str, str]]
    """The files, by name, that a home needs in which a session with this first line is only read."""
    program_reads: bool = False
    """Whether the harness's program can read a session without continuing it, to verify a repaired copy."""
