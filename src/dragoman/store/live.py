"""The live store: every line and every message of live sessions, kept before anybody is told.

A file of its own, ``live.db``. Unlike the index it is no cache: what was told must be there
after a crash. Writing is :mod:`dragoman.store.live_writing`'s; reading sees only what is committed.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from dragoman.errors import DragomanError
from dragoman.model.messages import BaseMessage, type_of
from dragoman.store.database import move_aside
from dragoman.store.live_entries import Entry, Shared, moment
from dragoman.store.live_schema import (
    APPLICATION_ID,
    PLACE_BITS,
    VERSION,
    migrate,
    place_in,
    row_id,
)
from dragoman.store.live_writing import Writer
from dragoman.store.locking import WriterLock

NAME: Final = "live.db"
_BUSY_SECONDS: Final = 10.0
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_ENTRIES: Final = "SELECT entry_id, at, connection, message FROM entries"
_KINDS: Final = {kind: type_of(kind) for kind in BaseMessage.__subclasses__()}


class LiveStoreUnusable(DragomanError):
    """The live store cannot be opened, read or written."""


class StoredSession(NamedTuple):
    """A session as it was left."""

    number: int
    session_id: str
    body: bytes
    last_seq: int


class Line(NamedTuple):
    """A line of a connection."""

    sent: bool
    raw: bytes
    length: int | None = None
    """Of a line that was too long to keep: how long. ``raw`` is then its beginning and its end."""


class UsedKey(NamedTuple):
    """What an idempotency key was used for."""

    request: bytes
    session_id: str


class LiveStore:
    """One open store. Only one program at a time has it."""

    def __init__(
        self,
        folder: Path,
        *,
        committed: Callable[[list[Any]], None] = lambda told: None,
        failed: Callable[[str], None] = lambda problem: None,
    ) -> None:
        """``committed`` gets what may be told; like ``failed`` it is called in another thread."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / NAME
        self._lock = WriterLock(self.path.with_suffix(".lock"))
        if not self._lock.acquire():
            holder = self._lock.holder()
            raise LiveStoreUnusable(f"{self.path} is in use by process {holder}")
        self.note: str | None = None
        """What had to be done instead of simply opening it, as a sentence."""
        try:
            self._open()
        except (sqlite3.Error, OSError) as problem:
            self._lock.release()
            raise LiveStoreUnusable(f"{self.path} cannot be opened: {problem}") from problem
        self._reading = threading.Lock()
        self._reader = connected(self.path)
        self._reader.execute("PRAGMA query_only = ON")
        self._sessions = self._highest("sessions", "session")
        self._connections = self._highest("connections", "connection")
        self.writer = Writer(lambda: connected(self.path), committed, failed)

    def _open(self) -> None:
        try:
            connection = connected(self.path)
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
        except sqlite3.DatabaseError as problem:
            if getattr(problem, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                raise
            aside = move_aside(self.path)
            self.note = f"the live store is damaged ({problem}); it was moved to {aside.name}"
            self._open()
            return
        if version > VERSION or (version and owner != APPLICATION_ID):
            connection.close()
            whose = "a newer version of this program" if version > VERSION else "another program"
            raise sqlite3.OperationalError(f"it is of {whose}")
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection)
        connection.close()

    def close(self) -> None:
        self.writer.close()
        with self._reading:
            self._reader.close()
        self._lock.release()

    # Writing.

    def begin_connection(self, harness: str, at: datetime) -> int:
        """The number of a new connection."""
        self._connections += 1
        number = self._connections
        statement = "INSERT INTO connections (connection, harness, began_at) VALUES (?, ?, ?)"
        self.writer.add(statement, number, harness, at.timestamp())
        return number

    def add_lines(
        self, connection: int, first: int, lines: Iterable[Line], at: datetime, size: int
    ) -> None:
        """Keep lines; ``first`` is the number of the first one, counted from 1."""
        start, seconds = row_id(connection, first), at.timestamp()
        rows = [
            (start + place, line.sent, seconds, line.length, line.raw)
            for place, line in enumerate(lines)
        ]
        self.writer.add_lines(rows, size)

    def new_session(self) -> int:
        """The number of a session to be put in."""
        self._sessions += 1
        return self._sessions

    def put_session(self, number: int, session_id: str, body: bytes) -> None:
        self.writer.add(
            "INSERT INTO sessions VALUES (?, ?, ?) ON CONFLICT (session) DO UPDATE SET "
            "body = excluded.body",
            number,
            session_id,
            body,
        )

    def add_entry(self, number: int, entry: Entry, told: Any) -> None:
        """Keep an entry, and then tell."""
        message, data = entry.message, entry.message_json
        row = (
            row_id(number, entry.seq),
            entry.at.timestamp(),
            _KINDS[type(message)],
            entry.connection,
            message.line,
            data,
        )
        self.writer.add_entry(row, len(data), told)

    def put_approval(
        self, session_id: str, approval_id: str, asked_at: datetime, deadline_at: datetime | None
    ) -> None:
        until = deadline_at.timestamp() if deadline_at is not None else None
        statement = "INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?)"
        self.writer.add(statement, session_id, approval_id, asked_at.timestamp(), until)

    def drop_approval(self, session_id: str, approval_id: str) -> None:
        statement = "DELETE FROM approvals WHERE session_id = ? AND approval_id = ?"
        self.writer.add(statement, session_id, approval_id)

    def put_key(self, key: str, request: bytes, session_id: str, at: datetime) -> None:
        statement = "INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?)"
        self.writer.add(statement, key, at.timestamp(), request, session_id)

    def prune(self, before: datetime) -> None:
        """Forget the lines of connections, and the keys, that are older than this."""
        seconds = before.timestamp()
        old = "SELECT connection FROM connections WHERE began_at < ? AND NOT is_pruned"
        for (number,) in self._rows(old, seconds):
            first, last = row_id(number, 0), row_id(number + 1, 0)
            self.writer.add("DELETE FROM journal WHERE line_id BETWEEN ? AND ?", first, last)
            self.writer.add("UPDATE connections SET is_pruned = 1 WHERE connection = ?", number)
        self.writer.add("DELETE FROM keys WHERE at < ?", seconds)

    # Reading.

    def sessions(self) -> list[StoredSession]:
        rows = self._rows(
            "SELECT s.session, s.session_id, s.body, (SELECT max(entry_id) FROM entries "
            f"WHERE entry_id BETWEEN s.session << {PLACE_BITS} AND (s.session + 1 << {PLACE_BITS}) - 1) "
            "FROM sessions s ORDER BY s.session"
        )
        return [StoredSession(n, name, body, place_in(last or 0)) for n, name, body, last in rows]

    def last_seq(self, number: int) -> int:
        statement = "SELECT max(entry_id) FROM entries WHERE entry_id BETWEEN ? AND ?"
        [(last,)] = self._rows(statement, row_id(number, 0), row_id(number + 1, 0) - 1)
        return place_in(last or 0)

    def entries(self, number: int, session_id: str, *, after: int, limit: int) -> list[Entry]:
        """Entries behind a cursor, in order."""
        rows = self._rows(
            f"{_ENTRIES} WHERE entry_id > ? AND entry_id < ? ORDER BY entry_id LIMIT ?",
            row_id(number, max(0, after)),
            row_id(number + 1, 0),
            limit,
        )
        return [_entry(session_id, row) for row in rows]

    def before(self, number: int, session_id: str, *, seq: int, limit: int) -> list[Entry]:
        """The last entries before this one, in order."""
        rows = self._rows(
            f"{_ENTRIES} WHERE entry_id > ? AND entry_id < ? ORDER BY entry_id DESC LIMIT ?",
            row_id(number, 0),
            row_id(number, max(0, seq)),
            limit,
        )
        return [_entry(session_id, row) for row in reversed(rows)]

    def last_of_kind(self, number: int, kind: str) -> int:
        """The place of the newest ``turn_started``, ``turn_ended`` or ``approval_requested``."""
        statement = (
            "SELECT max(entry_id) FROM entries WHERE kind = ? AND entry_id BETWEEN ? AND ? AND "
            "kind IN ('turn_started', 'turn_ended', 'approval_requested')"
        )
        [(last,)] = self._rows(statement, kind, row_id(number, 0), row_id(number + 1, 0) - 1)
        return place_in(last or 0)

    def requests(self, limit: int) -> list[Entry]:
        """What agents have asked, the newest first."""
        rows = self._rows(
            "SELECT e.entry_id, e.at, e.connection, e.message, s.session_id FROM entries e "
            f"JOIN sessions s ON s.session = e.entry_id >> {PLACE_BITS} "
            "WHERE e.kind = 'approval_requested' ORDER BY e.at DESC LIMIT ?",
            limit,
        )
        return [_entry(row[4], row) for row in rows]

    def approvals(self) -> list[tuple[str, str]]:
        """The session and the name of each approval that was waiting."""
        return [(row[0], row[1]) for row in self._rows("SELECT session_id, approval_id FROM approvals")]

    def key(self, key: str) -> UsedKey | None:
        rows = self._rows("SELECT request, session_id FROM keys WHERE key = ?", key)
        return UsedKey(*rows[0]) if rows else None

    def _highest(self, table: str, column: str) -> int:
        return int(self._rows(f"SELECT coalesce(max({column}), 0) FROM {table}")[0][0])

    def _rows(self, statement: str, *given: Any) -> list[Any]:
        try:
            with self._reading:
                return self._reader.execute(statement, given).fetchall()
        except sqlite3.Error as problem:
            raise LiveStoreUnusable(f"{self.path} cannot be read: {problem}") from problem


def connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False
    )
    # What is committed outlives us; only the loss of power may take back the last moments.
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _entry(session_id: str, row: Any) -> Entry:
    entry_id, at, connection, message = row[:4]
    return Entry(session_id, place_in(entry_id), moment(at), message, connection=connection)


__all__ = [
    "Entry",
    "Line",
    "LiveStore",
    "LiveStoreUnusable",
    "Shared",
    "StoredSession",
    "UsedKey",
    "connected",
]
