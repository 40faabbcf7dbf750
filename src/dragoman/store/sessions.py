"""Sessions in the index, with everything a list shows."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from dragoman.store.database import Database


class IndexedSession(NamedTuple):
    """What one file contains about one session."""

    file_id: int
    session_id: str
    parent_session_id: str | None = None
    origin: str | None = None
    """``fork``, ``sub-agent``, ``review``, ``revert`` or ``hand-off``; None for a session the user started."""
    harness: str | None = None
    version: str | None = None
    model: str | None = None
    cwd: str | None = None
    title: str | None = None
    started_at: float | None = None
    """In seconds since 1970, like all times here."""
    last_at: float = 0.0
    """The time of the last message, or of the last write to the file if no row has a time."""
    turns: int = 0
    undone: int = 0
    """How many of its turns were undone."""
    outcome: str | None = None
    """How the last turn ended."""
    is_open: bool = False
    """Whether the last turn has no known end."""
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None


class ListedSession(NamedTuple):
    """A session as listed, with the newest of its files."""

    row: IndexedSession
    path: str
    archived: bool
    mtime: float
    """When the file was last modified."""


TITLE: Final = "coalesce((SELECT name FROM names WHERE names.session_id = s.session_id), s.title)"
"""SQL for the name of session ``s``, or its first prompt if it has no name."""
_COLUMNS: Final = ", ".join(
    TITLE if name == "title" else f"s.{name}" for name in IndexedSession._fields
)
# A reverted session has two files. The newest one represents it.
_NEWEST: Final = (
    "NOT EXISTS (SELECT 1 FROM sessions n WHERE n.session_id = s.session_id AND "
    "(n.last_at, n.file_id) > (s.last_at, s.file_id))"
)


class SessionTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def replace(self, file_id: int, rows: Iterable[IndexedSession]) -> None:
        """Replace the sessions of a file."""
        self._database.write("DELETE FROM sessions WHERE file_id = ?", (file_id,))
        marks = ", ".join("?" * len(IndexedSession._fields))
        self._database.write_many(f"INSERT INTO sessions VALUES ({marks})", rows)

    def name(self, names: Mapping[str, str]) -> None:
        """Replace the names of all sessions."""
        self._database.write("DELETE FROM names")
        self._database.write_many("INSERT INTO names VALUES (?, ?)", names.items())

    def list(
        self,
        *,
        project: str | None = None,
        since: float | None = None,
        until: float | None = None,
        harness: str | None = None,
        archived: bool | None = None,
        top: bool = False,
        without: Collection[str] = (),
        limit: int | None = None,
    ) -> list[ListedSession]:
        """Return sessions, newest first. ``project`` is a folder, including everything below it, or its last name."""
        where: list[str] = [_NEWEST]
        given: list[Any] = []
        for condition, value in (
            ("s.last_at >= ?", since),
            ("s.last_at < ?", until),
            ("s.harness = ?", harness),
            ("f.archived = ?", archived),
        ):
            if value is not None:
                where.append(condition)
                given.append(value)
        if project is not None:
            where.append(in_project("s.cwd"))
            given += project_values(project)
        if top:
            where.append("coalesce(s.origin, '') NOT IN ('sub-agent', 'review')")
        if without:
            import json  # slow to import, and a plain list does not need it

            where.append("s.session_id NOT IN (SELECT value FROM json_each(?))")
            given.append(json.dumps(list(without)))
        return self._listed(" AND ".join(where), given, limit)

    def matching(self, prefix: str) -> list[ListedSession]:
        """Return the sessions whose ids start with this prefix."""
        where = f"s.session_id >= ? AND s.session_id < ? AND {_NEWEST}"
        return self._listed(where, [prefix, prefix + "\U0010ffff"], None)

    def titled(self, title: str) -> list[ListedSession]:
        """Return the sessions with this title or name, ignoring case.

        A title that ends with ``…`` was truncated in a list and matches as a prefix.
        """
        if title.endswith("…"):
            start = title.removesuffix("…").rstrip()
            where = f"substr({TITLE}, 1, ?) = ? COLLATE NOCASE AND {_NEWEST}"
            return self._listed(where, [len(start), start], None) if start else []
        return self._listed(f"{TITLE} = ? COLLATE NOCASE AND {_NEWEST}", [title], None)

    def children(self, session_id: str) -> list[ListedSession]:
        """Return the sessions that this one started or that were forked from it."""
        where = f"s.parent_session_id = ? AND s.session_id != ? AND {_NEWEST}"
        return self._listed(where, [session_id, session_id], None)

    def count(self) -> int:
        return int(self._database.row("SELECT count(DISTINCT session_id) FROM sessions")[0])

    def _listed(self, where: str, given: list[Any], limit: int | None) -> list[ListedSession]:
        rows = self._database.rows(
            f"SELECT f.path, f.archived, f.mtime_ns, {_COLUMNS} "
            "FROM sessions s JOIN files f ON f.file_id = s.file_id "
            f"WHERE {where} ORDER BY s.last_at DESC, s.session_id LIMIT ?",
            (*given, -1 if limit is None else limit),
        )
        return [
            ListedSession(
                self._since_it_began(IndexedSession(*rest)),
                os.fsdecode(path),
                bool(archived),
                mtime_ns / 1e9,
            )
            for path, archived, mtime_ns, *rest in rows
        ]

    def _since_it_began(self, row: IndexedSession) -> IndexedSession:
        """Restore title and start time from before a revert, which continues the session in a second file."""
        if row.origin != "revert":
            return row
        first = self._database.row(
            f"SELECT {TITLE}, started_at FROM sessions s WHERE session_id = ? "
            "ORDER BY started_at IS NULL, started_at LIMIT 1",
            (row.session_id,),
        )
        return row._replace(title=first[0] or row.title, started_at=first[1])


def in_project(column: str) -> str:
    """Return the SQL condition that a folder is the project, lies within it, or has its name."""
    return f"({column} = ? OR {column} LIKE ? ESCAPE '\\' OR {column} LIKE ? ESCAPE '\\')"


def project_values(project: str) -> list[str]:
    plain = project.rstrip("/") or "/"
    escaped = plain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return [plain, f"{escaped.rstrip('/')}/%", f"%/{escaped}"]
