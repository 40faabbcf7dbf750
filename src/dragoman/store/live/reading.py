"""Read the live store: sessions, entries from a cursor, lines. Only committed data is visible.

Safe to use from any thread.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.errors import DragomanError
from dragoman.model.messages import Malformed, Message, decode, encode
from dragoman.store.live.entries import Entry, moment
from dragoman.store.live.schema import PLACE_BITS, SETTLING, place_in, row_id

_BUSY_SECONDS: Final = 10.0
_ENTRIES: Final = "SELECT entry_id, at, connection, message FROM entries"


ADVICE: Final = (
    ". Move the file away to start with an empty one; the agent's own session files are untouched"
)
"""What to do about a damaged store."""
_NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)


class LiveStoreUnusable(DragomanError):
    """The live store cannot be opened, read or written."""


def damaged(path: Path, problem: Exception) -> LiveStoreUnusable:
    """Return the error for stored values that cannot be what was written."""
    return LiveStoreUnusable(f"{path} is damaged: {problem}{ADVICE}")


class StoredSession(NamedTuple):
    """A session in its last stored state."""

    number: int
    session_id: str
    body: bytes
    last_seq: int


class JournalLine(NamedTuple):
    """A line of a connection."""

    sent: bool
    raw: bytes
    length: int | None = None
    """The original length of a line that was too long to keep. ``raw`` then holds its beginning and end."""


class UsedKey(NamedTuple):
    """The request an idempotency key was used for, and the session it led to."""

    request: bytes
    session_id: str


class AcceptedPrompt(NamedTuple):
    """A prompt that was accepted but is not yet an entry of its session."""

    number: int
    session_id: str
    key: str | None
    """The idempotency key it was sent with."""
    turn_id: str | None
    """The turn that took it up, if known. Not stored."""
    seq: int
    """The session's newest entry when the prompt was accepted."""
    text: str
    images: list[str]


class LiveReader:
    """A read-only connection to the store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection = connected(path)
        self._connection.execute("PRAGMA query_only = ON")

    def close(self) -> None:
        with self._lock:
            self._connection.close()

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
        """Return the entries after a cursor, in order."""
        rows = self._rows(
            f"{_ENTRIES} WHERE entry_id > ? AND entry_id < ? ORDER BY entry_id LIMIT ?",
            row_id(number, after),
            row_id(number + 1, 0),
            limit,
        )
        return [_entry(session_id, row) for row in rows]

    def before(self, number: int, session_id: str, *, seq: int, limit: int) -> list[Entry]:
        """Return the last entries before this one, in order."""
        rows = self._rows(
            f"{_ENTRIES} WHERE entry_id > ? AND entry_id < ? ORDER BY entry_id DESC LIMIT ?",
            row_id(number, 0),
            row_id(number, seq),
            limit,
        )
        return [_entry(session_id, row) for row in reversed(rows)]

    def of_kind(self, number: int, session_id: str, kind: str) -> Iterator[Entry]:
        """Yield entries of kind ``turn_started``, ``turn_ended`` or ``approval_requested``, newest first."""
        before = row_id(number + 1, 0)
        while rows := self._rows(
            f"{_ENTRIES} WHERE kind = ? AND entry_id > ? AND entry_id < ? AND {SETTLING} "
            "ORDER BY entry_id DESC LIMIT 50",
            kind,
            row_id(number, 0),
            before,
        ):
            for row in rows:
                yield _entry(session_id, row)
            before = rows[-1][0]

    def requests(self, limit: int) -> list[Entry]:
        """Return the approval requests of all sessions, newest first."""
        rows = self._rows(
            "SELECT e.entry_id, e.at, e.connection, e.message, s.session_id FROM entries e "
            f"JOIN sessions s ON s.session = e.entry_id >> {PLACE_BITS} "
            "WHERE e.kind = 'approval_requested' ORDER BY e.at DESC LIMIT ?",
            limit,
        )
        return [_entry(row[4], row) for row in rows]

    def approvals(self) -> list[tuple[str, str]]:
        """Return session id and approval id of each pending approval."""
        return [
            (row[0], row[1]) for row in self._rows("SELECT session_id, approval_id FROM approvals")
        ]

    def cut_off(self) -> list[tuple[int, str]]:
        """Return number and harness of connections that were not closed: their last lines may lack entries."""
        return self._rows("SELECT connection, harness FROM connections WHERE NOT is_closed")

    def lines(self, connection: int) -> Iterator[JournalLine]:
        """Yield the lines of a connection, of which there may be very many."""
        last = row_id(connection, 0)
        while rows := self._rows(
            "SELECT line_id, sent, raw, length FROM journal "
            "WHERE line_id > ? AND line_id < ? ORDER BY line_id LIMIT 1000",
            last,
            row_id(connection + 1, 0),
        ):
            for _, sent, raw, length in rows:
                yield JournalLine(bool(sent), raw, length)
            last = rows[-1][0]

    def said(self, connection: int) -> list[bytes]:
        """Return the stored messages of a connection, in no particular order."""
        statement = "SELECT message FROM entries WHERE connection = ?"
        return [row[0] for row in self._rows(statement, connection)]

    def key(self, key: str) -> UsedKey | None:
        rows = self._rows("SELECT request, session_id FROM keys WHERE key = ?", key)
        return UsedKey(*rows[0]) if rows else None

    def accepted(self) -> list[AcceptedPrompt]:
        """Return the accepted prompts that are not yet entries."""
        statement = (
            "SELECT number, session_id, key, seq, text, images FROM accepted ORDER BY number"
        )
        try:
            return [
                AcceptedPrompt(number, session_id, key, None, seq, text, json.loads(images))
                for number, session_id, key, seq, text, images in self._rows(statement)
            ]
        except (ValueError, TypeError) as problem:
            raise damaged(self._path, problem) from problem

    def highest(self, table: str, column: str) -> int:
        return int(self._rows(f"SELECT coalesce(max({column}), 0) FROM {table}")[0][0])

    def old_connections(self, before: float) -> list[int]:
        """Return the connections whose lines have not been pruned yet."""
        statement = "SELECT connection FROM connections WHERE began_at < ? AND NOT is_pruned"
        return [row[0] for row in self._rows(statement, before)]

    def _rows(self, statement: str, *given: Any) -> list[Any]:
        try:
            with self._lock:
                return self._connection.execute(statement, given).fetchall()
        except sqlite3.Error as problem:
            raise LiveStoreUnusable(f"{self._path} cannot be read: {problem}{ADVICE}") from problem
        except (UnicodeDecodeError, OverflowError) as problem:
            raise damaged(self._path, problem) from problem


def connected(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Connect to a store. Raises SQLite's errors, whose text is not always UTF-8 for a damaged file."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}",
        isolation_level=None,
        timeout=_BUSY_SECONDS,
        check_same_thread=False,
        uri=True,
    )
    try:
        # Committed data survives a crash of this process; only a power failure can lose the last
        # moments.
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _entry(session_id: str, row: Any) -> Entry:
    entry_id, at, connection, stored = row[:4]
    message = readable(stored)
    if isinstance(
        message, Malformed
    ):  # readers must get valid JSON even if the stored bytes are damaged
        stored = encode(message)
    return Entry(session_id, place_in(entry_id), _time(at), stored, message, connection)


def readable(stored: Any) -> Message:
    """Decode a stored message. Damaged bytes become a ``malformed`` message in its place."""
    try:
        return decode(stored)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError) as problem:
        raw = stored.decode(errors="replace") if isinstance(stored, bytes) else str(stored)
        return Malformed(raw=raw, problem=f"this entry of the live store is damaged: {problem}")


def _time(at: Any) -> datetime:
    try:
        return moment(at)
    except (ValueError, TypeError, OverflowError, OSError):
        return _NO_TIME  # not a representable date
