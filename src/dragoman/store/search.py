"""Search the index: best matches first, filtered by project, time, kind and tool."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from dragoman.store.database import Database
from dragoman.store.entries import KINDS
from dragoman.store.sessions import TITLE, in_project, project_values

_WEIGHTS: Final = {
    "prompt": 1.3,
    "text": 1.2,
    "notice": 1.1,
    "turn_ended": 1.1,
    "tool_result": 0.85,
    "compacted": 0.8,
}
"""Ranking weights by kind: people remember conversation better than tool output."""
_CASES: Final = " ".join(f"WHEN {KINDS.index(kind)} THEN {by}" for kind, by in _WEIGHTS.items())
_WORTH: Final = f"CASE e.kind {_CASES} ELSE 1.0 END"
_CHOSEN: Final = 400
"""How many of the best matches are weighted."""
_MOST: Final = 20_000
"""How many matches are ranked. For a more frequent word, rank means nothing."""


class Filters(NamedTuple):
    """Conditions on a match besides its text."""

    kinds: tuple[str, ...] = ()
    project: str | None = None
    since: float | None = None
    until: float | None = None
    tool: str | None = None
    errors: bool = False
    session_id: str | None = None
    harness: str | None = None


ANY: Final = Filters()
"""No conditions."""


class SearchMatch(NamedTuple):
    """A message that matches, with what is needed to show and open it."""

    entry_id: int
    session_id: str
    turn: int
    kind: str
    tool: str | None
    at: float | None
    is_error: bool
    offset: int
    length: int
    line: int
    path: str
    compressed: bool
    cwd: str | None
    title: str | None
    score: float
    """Higher is better."""


class SearchMatches(NamedTuple):
    """The result of a search."""

    matches: list[SearchMatch]
    is_ranked: bool
    """Whether matches are ordered by score; otherwise newest first."""


_COLUMNS: Final = (
    "e.entry_id, coalesce(e.session_id, f.session_id, ''), e.turn, e.kind, t.name, e.at, "
    f"e.is_error, e.offset, e.length, e.line, f.path, f.compressed, s.cwd, {TITLE}"
)
_JOINS: Final = (
    "JOIN files f ON f.file_id = e.file_id "
    "LEFT JOIN tools t ON t.tool = e.tool "
    "LEFT JOIN sessions s ON s.file_id = f.file_id "
    "AND s.session_id = coalesce(e.session_id, f.session_id)"
)


class MessageSearch:
    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, match: str, filters: Filters = ANY, *, limit: int = 20) -> SearchMatches:
        """Return the best matches, or the newest ones for a word that occurs nearly everywhere."""
        if self._is_common(match):
            return SearchMatches(self._newest(match, filters, limit), is_ranked=False)
        where, given = _conditions(filters)
        # Without filters, only the best candidates are joined. The limit leaves room for deleted
        # messages, whose text may still rank.
        inner = "SELECT rowid, rank FROM texts WHERE texts MATCH ?"
        if not where:
            inner += f" ORDER BY rank LIMIT {max(_CHOSEN, 2 * limit) + self._orphans()}"
        rows = self._database.rows(
            f"SELECT {_COLUMNS}, -m.rank * {_WORTH} AS score FROM ({inner}) m "
            f"JOIN entries e ON e.entry_id = m.rowid {_JOINS} {where} "
            "ORDER BY score DESC, e.at DESC LIMIT ?",
            (match, *given, limit),
        )
        return SearchMatches([_match(row) for row in rows], is_ranked=True)

    def _is_common(self, match: str) -> bool:
        statement = "SELECT count(*) FROM (SELECT 1 FROM texts WHERE texts MATCH ? LIMIT ?)"
        return int(self._database.row(statement, (match, _MOST))[0]) >= _MOST

    def _orphans(self) -> int:
        return int(self._database.fact("orphans") or 0)

    def _newest(self, match: str, filters: Filters, limit: int) -> list[SearchMatch]:
        """Return matches session by session, newest session first, best match first within a session."""
        where, given = _conditions(filters)
        join = "AND" if where else "WHERE"
        found: list[SearchMatch] = []
        for first, last in self._spans(filters):
            rows = self._database.rows(
                f"SELECT {_COLUMNS}, -m.rank FROM texts m JOIN entries e ON e.entry_id = m.rowid "
                f"{_JOINS} {where} {join} texts MATCH ? AND m.rowid BETWEEN ? AND ? "
                "ORDER BY m.rank LIMIT ?",
                (*given, match, first, last, limit - len(found)),
            )
            found += [_match(row) for row in rows]
            if len(found) >= limit:
                break
        return found

    def _spans(self, filters: Filters) -> list[Any]:
        """Return the id ranges of files that can contain a match, newest first."""
        wide = Filters(
            project=filters.project, harness=filters.harness, session_id=filters.session_id
        )
        where, given = _conditions(wide, session="s.session_id")
        if filters.since is not None:
            where += f"{' AND' if where else 'WHERE'} s.last_at >= ?"
            given.append(filters.since)
        return self._database.rows(
            "SELECT p.first, p.last FROM spans p JOIN files f ON f.file_id = p.file_id "
            "JOIN sessions s ON s.file_id = p.file_id "
            f"{where} GROUP BY p.file_id, p.first ORDER BY max(s.last_at) DESC, p.first DESC",
            given,
        )

    def get(self, entry_ids: Iterable[int], filters: Filters = ANY) -> list[SearchMatch]:
        """Return these messages in order, without those the filters exclude."""
        ids = list(entry_ids)
        where, given = _conditions(filters)
        join = "AND" if where else "WHERE"
        marks = ", ".join("?" * len(ids))
        rows = self._database.rows(
            f"SELECT {_COLUMNS}, 0.0 FROM entries e {_JOINS} {where} "
            f"{join} e.entry_id IN ({marks}) ORDER BY e.entry_id",
            (*given, *ids),
        )
        return [_match(row) for row in rows]


def _conditions(
    filters: Filters, session: str = "coalesce(e.session_id, f.session_id)"
) -> tuple[str, list[Any]]:
    where: list[str] = []
    given: list[Any] = []
    if filters.kinds:
        where.append(f"e.kind IN ({', '.join(str(KINDS.index(kind)) for kind in filters.kinds)})")
    for condition, value in (
        ("e.at >= ?", filters.since),
        ("e.at < ?", filters.until),
        ("t.name = ? COLLATE NOCASE", filters.tool),
        (f"{session} = ?", filters.session_id),
        ("f.harness = ?", filters.harness),
    ):
        if value is not None:
            where.append(condition)
            given.append(value)
    if filters.errors:
        where.append("e.is_error")
    if filters.project is not None:
        where.append(in_project("s.cwd"))
        given += project_values(filters.project)
    return (f"WHERE {' AND '.join(where)}" if where else ""), given


def _match(row: Sequence[Any]) -> SearchMatch:
    found = SearchMatch(*row)
    return found._replace(
        kind=KINDS[row[3]],
        is_error=bool(found.is_error),
        path=os.fsdecode(row[10]),
        compressed=bool(found.compressed),
    )
