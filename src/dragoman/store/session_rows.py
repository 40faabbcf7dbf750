"""Sessions that a program keeps as rows of a SQLite database, read as lines, without ever modifying it.

The tables and columns are checked before anything is read: a database of another layout is left alone, with the reason.
Like every other program's database it is opened as immutable, or, while it has a write-ahead log, as a copy
(:mod:`dragoman.store.foreign`).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.store.foreign import opened

_COLUMNS: Final = {
    "session": ("id", "directory", "title", "version", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "data"),
}
"""What each table must have at least."""
_STATES: Final = (
    "SELECT s.id, s.time_created, s.time_updated,"
    " (SELECT count(*) FROM message m WHERE m.session_id = s.id),"
    " (SELECT max(time_updated) FROM message m WHERE m.session_id = s.id),"
    " (SELECT count(*) FROM part p WHERE p.session_id = s.id),"
    " (SELECT max(time_updated) FROM part p WHERE p.session_id = s.id)"
    " FROM session s"
)
_MESSAGES: Final = "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS: Final = "SELECT * FROM part WHERE session_id = ? ORDER BY message_id, id"
_TODOS: Final = "SELECT content, status, priority FROM todo WHERE session_id = ? ORDER BY position"
_encode: Final = msgspec.json.Encoder().encode


class DatabaseSession(NamedTuple):
    """A session in the database, and a value that changes with it."""

    session_id: str
    time_updated: int
    """In milliseconds."""
    state: str


class UnknownLayout(ValueError):
    """The database does not have the tables and columns that are read."""


class SessionRows:
    """An open database of this layout."""

    def __init__(self, connection: sqlite3.Connection, *, may_change: bool = False) -> None:
        """``may_change``: it is read in its place, without a lock, and its program may write to it."""
        self._connection = connection
        self.may_change = may_change
        connection.row_factory = sqlite3.Row
        connection.text_factory = _text
        _check(connection)

    def sessions(self) -> list[DatabaseSession]:
        """Return every session."""
        try:
            rows = self._connection.execute(_STATES).fetchall()
        except sqlite3.OperationalError as problem:
            raise UnknownLayout(str(problem)) from None
        return [
            DatabaseSession(str(row[0]), int(row[2] or row[1] or 0), ":".join(map(str, row[1:])))
            for row in rows
        ]

    def lines(self, session_id: str) -> Iterator[bytes]:
        """Yield the rows of one session as lines: itself, then each message with its parts, then its todos."""
        run = self._connection.execute
        for row in run("SELECT * FROM session WHERE id = ?", (session_id,)):
            yield _line("session", _kept(row))
        parts: dict[str, list[sqlite3.Row]] = {}
        for row in run(_PARTS, (session_id,)):
            parts.setdefault(str(row["message_id"]), []).append(row)
        for row in run(_MESSAGES, (session_id,)):
            yield _line("message", _kept(row))
            for part in parts.pop(str(row["id"]), ()):
                yield _line("part", _kept(part))
        for left in parts.values():  # their message is gone
            for part in left:
                yield _line("part", _kept(part))
        try:
            todos = [dict(row) for row in run(_TODOS, (session_id,))]
        except sqlite3.OperationalError:
            return  # a release without todos
        if todos:
            yield _line("todo", {"session_id": session_id, "todos": todos})


@contextmanager
def session_rows(path: str | os.PathLike[str]) -> Generator[SessionRows]:
    """Open a database. Raises :class:`UnknownLayout`, ``OSError`` and ``sqlite3.Error``."""
    with opened(Path(path)) as connection:
        read_from = connection.execute("PRAGMA database_list").fetchone()[2]
        is_original = bool(read_from) and os.path.samefile(read_from, path)
        yield SessionRows(connection, may_change=is_original)


def _check(connection: sqlite3.Connection) -> None:
    for table, columns in _COLUMNS.items():
        names = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        if missing := [name for name in columns if name not in names]:
            what = f"no table {table}" if not names else f"table {table} has no {missing[0]}"
            raise UnknownLayout(f"the database has another layout: {what}")


_DROPPED: Final = frozenset(
    ("time_updated", "cost", "summary_additions", "summary_deletions", "summary_files",
     "summary_diffs", "share_url", "permission", "revert")
)  # fmt: skip
"""Columns that change with every step, or that no message repeats."""


def _kept(row: sqlite3.Row) -> dict[str, Any]:
    return {
        key: _decoded(key, row[key])
        for key in row.keys()  # noqa: SIM118
        if row[key] is not None and key not in _DROPPED and not key.startswith("tokens_")
    }


def _decoded(key: str, value: Any) -> Any:
    """JSON columns as JSON; what is none is kept as text."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if key not in ("data", "model", "metadata") or not isinstance(value, str):
        return value
    try:
        return msgspec.Raw(_encode(msgspec.json.decode(value)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return value


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _line(table: str, row: dict[str, Any]) -> bytes:
    return _encode({"opencode": table, "row": row}) + b"\n"
