"""Where a harness keeps its sessions, and what its files say of where they come from. No I/O.

The office walks the folders and opens the files; what their names and first lines mean is the
harness's own knowledge, and is written down here in words that fit every harness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dragoman.model.messages import Notice

OriginKind: TypeAlias = Literal["fork", "sub-agent", "review", "revert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder below the harness's home that holds session files, at any depth."""

    folder: str
    archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A part of another file that a session goes on from without repeating it."""

    session_id: str
    end_offset: int | None = None
    """The byte of that file where the part ends."""
    end_ordinal: int | None = None
    """The number of the first row that is no longer part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a session comes from, as the first line of its file tells."""

    session_id: str
    kind: OriginKind | None = None
    """None for a session that the user began."""
    parent_session_id: str | None = None
    base: Base | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnList:
    """A database in which a harness itself lists its sessions: a second opinion, never more."""

    variable: str | None = None
    """The environment variable that names its folder, if it is not the harness's home."""
    prefix: str
    suffix: str
    """Its name is a number between these two. A new release begins a new one; the old are left."""
    table: str
    id_column: str
    path_column: str

    def newest_of(self, names: Iterable[str]) -> str | None:
        """Which of these files is the list, if one is."""
        numbered = [
            (int(number), name)
            for name in names
            if name.startswith(self.prefix)
            and name.endswith(self.suffix)
            and (number := name[len(self.prefix) : -len(self.suffix)]).isdecimal()
        ]
        return max(numbered)[1] if numbered else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameList:
    """A file below the harness's home that tells how sessions are called; what it says last holds."""

    file: str
    name_in: Callable[[bytes], tuple[str, str] | None]
    """The session and the name in a line of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The saved sessions of one harness."""

    home_variable: str
    """The environment variable that names the harness's home."""
    home_default: str
    """The home below the user's own, if the variable is not set."""
    places: tuple[Place, ...]
    suffixes: tuple[str, ...]
    """How the names of session files end."""
    session_id_in: Callable[[str], str | None]
    """The session that a file of this name holds, if the name tells."""
    origin_in: Callable[[bytes], Origin | None]
    """What the first line of a file says of the session's origin."""
    row_ordinal: Callable[[bytes], int | None]
    """The number that a row gives itself, in files whose rows are numbered."""
    turns_undone: Callable[[Notice], int]
    """How many of the turns before this notice it takes back; 0 for any other notice."""
    own_list: OwnList | None = None
    name_list: NameList | None = None
    """Where names are kept that people give to sessions, if not in the sessions' own files."""
