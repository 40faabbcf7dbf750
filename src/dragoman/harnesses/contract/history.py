"""The contract for saved sessions: where a harness keeps them, and which session a file holds. No I/O.

The archive walks the folders and opens the files. What their paths and first lines mean is the
harness's knowledge; it answers in terms that fit every harness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from dragoman.model.homes import HomeFolder
from dragoman.model.messages import Notice, RateLimits

OriginKind: TypeAlias = Literal["fork", "sub-agent", "review", "revert", "hand-off"]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A folder below the harness's home that holds session files, at any depth."""

    folder: str
    archived: bool = False


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """A part of another file that a session continues without repeating it."""

    session_id: str
    end_offset: int | None = None
    """The byte of that file where the part ends."""
    end_ordinal: int | None = None
    """The number of the first row after it."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Which session a file holds, and where that session comes from."""

    session_id: str
    kind: OriginKind | None = None
    """None for a session that the user started."""
    parent_session_id: str | None = None
    base: Base | None = None


class Identify(Protocol):
    def __call__(self, path: str, first_lines: Sequence[bytes], /) -> Origin | None:
        """Return the origin of a file, judging by its path and by as many first lines as there are.

        Without lines, the answer is derived from the path alone, which costs nothing; the lines decide where
        the two disagree. None means that this is no session of this harness. The path may name something
        inside of a file, such as a session in a database: the caller passes it as it found it, and the
        lines are then those of that session.
        """
        ...


class OwnList(msgspec.Struct, frozen=True, kw_only=True):
    """A database in which a harness lists its own sessions: a second opinion, never the truth."""

    variable: str | None = None
    """The environment variable that names its folder, if it is not the harness's home."""
    prefix: str
    suffix: str
    """Its name is a number between these two. A new release may start another one and leave the old."""
    table: str
    id_column: str
    path_column: str

    def newest_of(self, names: Iterable[str]) -> str | None:
        """Return which of these files is the list, if one is."""
        numbered = [
            (int(number), name)
            for name in names
            if name.startswith(self.prefix)
            and name.endswith(self.suffix)
            and (number := name[len(self.prefix) : -len(self.suffix)]).isdecimal()
        ]
        return max(numbered)[1] if numbered else None


class SessionDatabase(msgspec.Struct, frozen=True, kw_only=True):
    """A database of which each session is some rows. It is only ever read.

    The rows of a session are copied, as lines, to a file of the cache, which then is read like any session file.
    """

    file: str
    """The database, below the harness's home."""


class NameList(msgspec.Struct, frozen=True, kw_only=True):
    """A file below the harness's home that lists the names of sessions; the last entry of each counts."""

    file: str
    name_in: Callable[[bytes], tuple[str, str] | None]
    """The session and the name in one of its lines."""


class RowNames(msgspec.Struct, frozen=True, kw_only=True):
    """Names of sessions that are rows of the sessions' own files."""

    starts: tuple[bytes, ...]
    """How such rows begin, so that no other row is decoded."""
    name_in: Callable[[bytes], tuple[int, str] | None]
    """The rank of the name in a row, and the name. Of the names with the highest rank, the last counts; an
    empty one takes its rank's name away."""


def _no_ordinal(_line: bytes) -> None:
    return None


def _as_noticed(notice: Notice) -> int:
    return notice.undone_turns


def no_limits(_data: bytes) -> None:
    """For session files that never report rate limits."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The saved sessions of one harness."""

    home_folder: HomeFolder
    places: tuple[Place, ...]
    suffixes: tuple[str, ...]
    """How the names of session files end."""
    identify: Identify
    row_ordinal: Callable[[bytes], int | None] = _no_ordinal
    """The number that a row gives itself, in files whose rows are numbered."""
    turns_undone: Callable[[Notice], int] = _as_noticed
    """How many of the turns before this notice were undone by it; 0 for any other notice."""
    database: SessionDatabase | None = None
    """Where sessions are rows and not files."""
    own_list: OwnList | None = None
    name_list: NameList | None = None
    """Where users' names for sessions are kept, if in a list of their own …"""
    row_names: RowNames | None = None
    """… or in the sessions' files."""
    newest_limits: Callable[[bytes], RateLimits | None] | None = None
    """The newest rate limits in the last bytes of a session file, told without its parser. Those may begin in the
    middle of a line. None: the parser must look."""
    journals: bool = False
    """Its programs keep no sessions that we can read: what is exchanged with each of their processes is kept in the
    first place."""

    def home(self, env: Mapping[str, str]) -> str:
        """Return the harness's home in this environment (see :meth:`HomeFolder.path`)."""
        return self.home_folder.path(env)
