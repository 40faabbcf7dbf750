"""The live store: every line and every message of live sessions, stored before it is delivered.

It is a file of its own, ``live.db``. Unlike the index it is not a cache: what was delivered must
survive a crash. This is the writing side; :mod:`dragoman.store.live.reading` sees only what is
committed.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from dragoman.model.messages import BaseMessage, type_of
from dragoman.store.database import free_name, move_aside
from dragoman.store.live.entries import Entry
from dragoman.store.live.log import WrittenLog
from dragoman.store.live.reading import (
    ADVICE,
    AcceptedPrompt,
    JournalLine,
    LiveReader,
    LiveStoreUnusable,
    connected,
)
from dragoman.store.live.schema import APPLICATION_ID, VERSION, migrate, row_id
from dragoman.store.live.writing import LiveWriter
from dragoman.store.locking import WriterLock

NAME: Final = "live.db"
_HEAD: Final = b"SQLite format 3\0"
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_KINDS: Final = {kind: type_of(kind) for kind in BaseMessage.__subclasses__()}


class _NotADatabase(sqlite3.DatabaseError):
    sqlite_errorcode = sqlite3.SQLITE_NOTADB


class LiveStore:
    """An open store. Only one process can have it open."""

    def __init__(
        self,
        folder: Path,
        *,
        committed: Callable[[list[Any]], None] = lambda delivered: None,
        failed: Callable[[str], None] = lambda problem: None,
    ) -> None:
        """``committed`` receives what may now be delivered. It is called in the writer's thread, like ``failed``."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / NAME
        _make_private(self.path)
        self._lock = WriterLock(self.path.with_suffix(".lock"))
        if not self._lock.acquire():
            holder = self._lock.holder()
            raise LiveStoreUnusable(f"{self.path} is in use by process {holder}")
        self.note: str | None = None
        """What had to be done instead of simply opening the store, as a sentence."""
        with ExitStack() as undone:
            undone.callback(self._lock.release)
            try:
                self._open()
                self.reading = LiveReader(self.path)
            except (sqlite3.Error, OSError, UnicodeDecodeError) as problem:
                code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
                advice = ADVICE if code in _DAMAGED else ""
                raise LiveStoreUnusable(
                    f"{self.path} cannot be opened: {problem}{advice}"
                ) from problem
            undone.callback(self.reading.close)
            self._sessions = self.reading.highest("sessions", "session")
            self._connections = self.reading.highest("connections", "connection")
            undone.pop_all()
        self.writer = LiveWriter(lambda: connected(self.path), committed, failed)

    def _open(self) -> None:
        try:
            if _head(self.path) not in (b"", _HEAD):
                # Check before SQLite opens it: SQLite would delete the log of a file that is not a
                # database.
                raise _NotADatabase("it is not a database")
            log = WrittenLog(self.path)
            with closing(connected(self.path)) as connection:
                connection.execute("BEGIN")
                version = int(connection.execute("PRAGMA user_version").fetchone()[0])
                owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
                lost = log.problem()
                if lost is not None:  # closing the connection removes the log
                    self.note = f"{self.path}: {lost}; a copy of the log is in {_copied(log.path)}"
        except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
            code = getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code & 0xFF not in _DAMAGED:
                raise
            aside = move_aside(self.path, keep_log=True)
            self.note = (
                f"{self.path} is damaged ({problem}). It was moved to {aside.name} and a new one was created: "
                "the live sessions in it are not shown; the agent's own session files are untouched"
            )
            _make_private(self.path)
            self._open()
            return
        if not 0 <= version <= VERSION or (version and owner != APPLICATION_ID):
            whose = "a newer version of this program" if version > VERSION else "another program"
            raise sqlite3.OperationalError(f"it was written by {whose}")
        with closing(connected(self.path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection)

    def close(self) -> None:
        self.writer.close()
        self.reading.close()
        self._lock.release()

    # Writing.

    def begin_connection(self, harness: str, at: datetime) -> int:
        """Register a new connection and return its number."""
        self._connections += 1
        number = self._connections
        statement = "INSERT INTO connections (connection, harness, began_at) VALUES (?, ?, ?)"
        self.writer.add(statement, number, harness, at.timestamp())
        return number

    def end_connection(self, number: int) -> None:
        """Record that all messages of the connection's lines are stored."""
        self.writer.add("UPDATE connections SET is_closed = 1 WHERE connection = ?", number)

    def add_lines(
        self, connection: int, first: int, lines: Iterable[JournalLine], at: datetime, size: int
    ) -> None:
        """Store lines; ``first`` is the number of the first one, counted from 1."""
        start, seconds = row_id(connection, first), at.timestamp()
        rows = [
            (start + place, line.sent, seconds, line.length, line.raw)
            for place, line in enumerate(lines)
        ]
        self.writer.add_lines(rows, size)

    def new_session(self) -> int:
        """Reserve the number of a new session."""
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

    def add_entry(self, number: int, entry: Entry, delivery: Any) -> None:
        """Store an entry, and pass on ``delivery`` once it is committed."""
        message, data = entry.message, entry.message_json
        row = (
            row_id(number, entry.seq),
            entry.at.timestamp(),
            _KINDS[type(message)],
            entry.connection,
            message.line,
            data,
        )
        self.writer.add_entry(row, len(data), delivery)

    def put_approval(
        self, session_id: str, approval_id: str, asked_at: datetime, deadline_at: datetime | None
    ) -> None:
        until = deadline_at.timestamp() if deadline_at is not None else None
        statement = "INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?)"
        self.writer.add(statement, session_id, approval_id, asked_at.timestamp(), until)

    def drop_approval(self, session_id: str, approval_id: str) -> None:
        statement = "DELETE FROM approvals WHERE session_id = ? AND approval_id = ?"
        self.writer.add(statement, session_id, approval_id)

    def put_key(self, key: str, request: bytes, began: str, at: datetime) -> None:
        """Record a key with the session or turn it started; empty if not known yet."""
        statement = "INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?)"
        self.writer.add(statement, key, at.timestamp(), request, began)

    def name_key(self, key: str, began: str) -> None:
        """Record what a key started, once that is known."""
        self.writer.add("UPDATE keys SET session_id = ? WHERE key = ?", began, key)

    def drop_key(self, key: str) -> None:
        self.writer.add("DELETE FROM keys WHERE key = ?", key)

    def put_accepted(self, note: AcceptedPrompt, at: datetime) -> None:
        self.writer.add(
            "INSERT INTO accepted VALUES (?, ?, ?, ?, ?, ?, ?)",
            note.number,
            note.session_id,
            note.key,
            note.seq,
            at.timestamp(),
            note.text,
            json.dumps(note.images),
        )

    def drop_accepted(self, number: int) -> None:
        self.writer.add("DELETE FROM accepted WHERE number = ?", number)

    def prune(self, before: datetime) -> None:
        """Delete the lines of connections, and the keys, that are older than this."""
        seconds = before.timestamp()
        for number in self.reading.old_connections(seconds):
            first, last = row_id(number, 0), row_id(number + 1, 0)
            self.writer.add("DELETE FROM journal WHERE line_id BETWEEN ? AND ?", first, last)
            self.writer.add("UPDATE connections SET is_pruned = 1 WHERE connection = ?", number)
        self.writer.add("DELETE FROM keys WHERE at < ?", seconds)


def _make_private(path: Path) -> None:
    """Make the store readable by this user only, whatever the umask: it holds everything the agents
    saw. SQLite's other files inherit the mode.
    """
    with suppress(OSError):  # not ours to change, or missing: opening it reports the problem
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            if each.exists():
                each.chmod(0o600)


def _copied(path: Path) -> str:
    """Copy a file next to itself and return the copy's name."""
    aside = free_name(path)
    shutil.copy(path, aside)  # with its mode
    return aside.name


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_HEAD))
