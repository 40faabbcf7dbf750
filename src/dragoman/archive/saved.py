"""A saved session: its properties, and its messages, all of them or those of a turn."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from dragoman.errors import UnreadableSource, UsageError
from dragoman.reading.writers import LATELY_SECONDS, is_ours, is_surely_written, may_grow
from dragoman.store.files import FileRow, Files
from dragoman.store.sessions import ListedSession, SessionTable

if TYPE_CHECKING:
    from dragoman.archive.finding import FoundFile
    from dragoman.archive.numbering import NumberedFile
    from dragoman.model.messages import Message
    from dragoman.model.turns import Turn
    from dragoman.model.usage import Usage
    from dragoman.store.files import TurnRow

_T = TypeVar("_T")


class SavedSession:
    """A session on disk. Cheap to create: nothing is read until it is needed."""

    def __init__(self, listed: ListedSession, files: Files, sessions: SessionTable) -> None:
        row = listed.row
        self._files = files
        self._sessions = sessions
        self._file_id = row.file_id
        self._row = row
        self.id = row.session_id
        self.parent_id = row.parent_session_id
        self.origin = row.origin
        """``fork``, ``sub-agent``, ``review``, ``revert`` or ``hand-off``; None for a session the user started."""
        self.harness = row.harness
        self.version = row.version
        self.model = row.model
        self.project = row.cwd
        self.title = row.title
        self.started_at = row.started_at
        """Seconds since 1970."""
        self.last_at = row.last_at
        self.turn_count = row.turns
        self.undone = row.undone
        self.path = listed.path
        self.archived = listed.archived
        self._mtime = listed.mtime

    def __repr__(self) -> str:
        return f"<SavedSession {self.id} {self.title!r}>"

    @property
    def state(self) -> str:
        """The state of its last turn: ``completed``, ``failed``, ``interrupted``, ``running`` or
        ``open``.

        ``running``: a program is writing it. ``open``: no program is, and its end is not known. ``empty``:
        there is no turn.
        """
        row = self._row
        # An open turn with an outcome comes from a release that never writes ends, and the agent
        # has answered. Only recent activity then makes it count as running.
        is_recent = row.outcome is None or time.time_ns() / 1e9 - self._mtime < LATELY_SECONDS
        if row.is_open and is_recent and self.is_written:
            return "running"
        return row.outcome or ("open" if row.is_open else "empty")

    @property
    def is_written(self) -> bool:
        """Whether another program has the file open and may continue the session at any time."""
        return may_grow(self.path)

    @property
    def is_elsewhere(self) -> bool:
        """Whether a program not started by this process is using it."""
        if not self.is_written or is_ours(self.path):
            return False
        # If it is unknown who has the file open, a session without an open turn may be resumed.
        return bool(self._row.is_open) or is_surely_written(self.path)

    @property
    def is_open(self) -> bool:
        """Whether its last turn has no end."""
        return bool(self._row.is_open) and self._row.outcome is None

    @property
    def tokens(self) -> int | None:
        """Input plus output tokens; None if not reported."""
        into, out = self._row.input_tokens, self._row.output_tokens
        return None if into is None or out is None else into + out

    @property
    def usage(self) -> Usage | None:
        from dragoman.model.usage import Usage

        row = self._row
        if row.input_tokens is None:
            return None
        return Usage(
            row.input_tokens,
            row.cached_input_tokens or 0,
            row.cache_write_input_tokens or 0,
            row.output_tokens or 0,
            row.reasoning_output_tokens or 0,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return its properties as a dictionary for JSON."""
        row = self._row
        tokens = None
        if row.input_tokens is not None:
            names = [name for name in row._fields if name.endswith("_tokens")]
            tokens = {name: getattr(row, name) or 0 for name in names}
        return {
            "session_id": self.id,
            "parent_session_id": self.parent_id,
            "origin": self.origin,
            "harness": self.harness,
            "version": self.version,
            "model": self.model,
            "project": self.project,
            "title": self.title,
            "started_at": self.started_at,
            "last_at": self.last_at,
            "turns": self.turn_count,
            "undone_turns": self.undone,
            "state": self.state,
            "tokens": tokens,
            "path": self.path,
            "archived": self.archived,
        }

    def messages(self) -> Iterator[Message]:
        """Yield every message, including the history that a fork or revert continues."""
        from dragoman.archive.stitching import stitched

        return self._read(stitched(self._files, self._file()))

    def turn(self, number: int) -> Iterator[Message]:
        """Yield the messages of one of its own turns, counted from 1, or from the end if negative."""
        from dragoman.archive.opening import turn

        number = self.turn_count + 1 + number if number < 0 else number
        if not 1 <= number <= self.turn_count:
            has = f"{self.turn_count} turn{'s' * (self.turn_count != 1)}"
            raise UsageError(f"no turn {number}: session {self.id} has {has}")
        return self._read(turn(self._files, self._file(), number))

    def last_turn(self) -> Iterator[Message]:
        return self.turn(-1)

    def numbered(self, first: int = 1) -> Iterator[tuple[int, Message]]:
        """Yield messages with stable numbers, counted from 1. Deltas have none.

        A turn ends only where a row of the file ends it. Reading starts near message ``first``, so
        earlier messages may be included.
        """
        return self._read(self._numbered(first))

    def _numbered(self, first: int) -> Iterator[tuple[int, Message]]:
        file = self.follow(first)
        try:
            yield from file.news()
        finally:
            file.close()

    def follow(self, first: int = 1) -> NumberedFile:
        """Return a reader that yields numbered messages as the file grows."""
        from dragoman.archive.numbering import NumberedFile

        return NumberedFile(self._files, self._file(), first)

    def turn_list(self) -> list[TurnRow] | None:
        """Return its turns and the numbers of their first messages, from the index.

        None if it continues another session: then only reading it gives the numbers.
        """
        return None if self._goes_on_from_another() else self._files.turns(self._file_id)

    def _goes_on_from_another(self) -> bool:
        return self._file().base_session_id is not None

    def turns(self) -> list[Turn]:
        """Return the conversation as turns."""
        from dragoman.model.turns import fold

        return fold(self.messages())

    def undone_turns(self) -> set[str | None]:
        """Return the ids of the turns that were undone."""
        from dragoman.model.messages import Notice, TurnStarted
        from dragoman.reading.parsers import history_of

        history = history_of(self.harness)
        started: list[str | None] = []
        undone: set[str | None] = set()
        for message in self.messages():
            if message.session_id != self.id or history is None:
                continue
            if isinstance(message, TurnStarted):
                started.append(message.turn_id)
            elif isinstance(message, Notice) and (count := history.turns_undone(message)):
                undone.update(started[-count:])
                del started[-count:]
        return undone

    def raw_line(self, number: int) -> bytes:
        """Return a line of the session's file unchanged."""
        from dragoman.archive.opening import raw_line

        line = raw_line(self._files, self._file(), number) if number > 0 else None
        if line is None:
            raise UsageError(f"no line {number} in {self.path}")
        return line

    def children(self) -> list[SavedSession]:
        """Return the sessions that it started, and those forked from it."""
        return [
            SavedSession(each, self._files, self._sessions)
            for each in self._sessions.children(self.id)
        ]

    def files(self) -> list[FoundFile]:
        """Return its files, as the index knows them. A revert creates a second one."""
        from dragoman.archive.finding import FoundFile

        return [
            FoundFile(each.path, each.device, each.inode, each.size, each.mtime_ns, each.harness)
            for each in self._files.of_session(self.id)
        ]

    @classmethod
    def file_states(cls, sessions: Sequence[SavedSession]) -> dict[str, list[tuple[int, int]]]:
        """Return size and mtime of the files of each session, which is much faster than :meth:`files`."""
        states: dict[str, list[tuple[int, int]]] = {}
        for files in dict.fromkeys(each._files for each in sessions):
            states |= files.sizes_of_sessions([e.id for e in sessions if e._files is files])
        return states

    @property
    def is_missing_its_base(self) -> bool:
        """Whether it continues another session whose file is missing."""
        from dragoman.archive.stitching import is_missing_its_base

        return is_missing_its_base(self._files, self._file())

    def _file(self) -> FileRow:
        row = self._files.get(self._file_id)
        if row is None:
            raise UnreadableSource(self.path, "it changed while it was being read; try again")
        return row

    def _read(self, messages: Iterator[_T]) -> Iterator[_T]:
        try:
            yield from messages
        except FileNotFoundError as problem:
            raise UnreadableSource(self.path, "the file no longer exists") from problem
        except OSError as problem:
            raise UnreadableSource(self.path, problem.strerror or str(problem)) from problem
