"""Searching: the best matches first, filtered by where, when and by whom it was said."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from dragoman.store.database import Database
from dragoman.store.entries import KINDS
from dragoman.store.schema import ENTRY_BITS
from dragoman.store.sessions import in_project, project_values

_STAGES: Final = (400, 6_000, -1)
"""How many of the best matches are looked at before filters are applied: more only if need be."""


class Filters(NamedTuple):
    """What a match must be besides a match."""

    kinds: tuple[str, ...] = ()
    project: str | None = None
    since: float | None = None
    until: float | None = None
    tool: str | None = None
    errors: bool = False
    session_id: str | None = None
    harness: str | None = None


class Match(NamedTuple):
    """An entry that was found, with what is needed to show and to open it."""

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
    """The higher the better."""

    @property
    def file_id(self) -> int:
        return self.entry_id >> ENTRY_BITS


_COLUMNS: Final = (
    "e.entry_id, coalesce(e.session_id, f.session_id, ''), e.turn, e.kind, t.name, e.at, "
    "e.is_error, e.offset, e.length, e.line, f.path, f.compressed, s.cwd, s.title"
)
_JOINS: Final = (
    f"JOIN files f ON f.file_id = e.entry_id >> {ENTRY_BITS} "
    "LEFT JOIN tools t ON t.tool = e.tool "
    "LEFT JOIN sessions s ON s.file_id = f.file_id "
    "AND s.session_id = coalesce(e.session_id, f.session_id)"
)


class Search:
    def __init__(self, database: Database) -> None:
        self._database = database

    def find(
        self, match: str, filters: Filters = Filters(), *, limit: int = 20, newest: bool = False
    ) -> list[Match]:
        """The best matches, or the newest ones."""
        if newest:
            return self._run(match, filters, limit, -1, order="e.at DESC, e.entry_id DESC")
        found: list[Match] = []
        for stage in _STAGES:
            found = self._run(match, filters, limit, stage, order="m.rank, e.at DESC")
            if len(found) >= limit:
                break
            if stage > 0 and self._is_all(match, stage):
                break
        return found

    def _run(
        self, match: str, filters: Filters, limit: int, stage: int, *, order: str
    ) -> list[Match]:
        where, given = _conditions(filters)
        inner = "SELECT rowid, rank FROM texts WHERE texts MATCH ?"
        if stage > 0:
            inner += f" ORDER BY rank LIMIT {stage}"
        rows = self._database.rows(
            f"SELECT {_COLUMNS}, -m.rank FROM ({inner}) m JOIN entries e ON e.entry_id = m.rowid "
            f"{_JOINS} {where} ORDER BY {order} LIMIT ?",
            (match, *given, limit),
        )
        return [_match(row) for row in rows]

    def _is_all(self, match: str, stage: int) -> bool:
        statement = "SELECT count(*) FROM (SELECT 1 FROM texts WHERE texts MATCH ? LIMIT ?)"
        return int(self._database.row(statement, (match, stage))[0]) < stage

    def get(self, entry_ids: Iterable[int], filters: Filters = Filters()) -> list[Match]:
        """These entries, in order, as far as the filters let them pass."""
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


def _conditions(filters: Filters) -> tuple[str, list[Any]]:
    where: list[str] = []
    given: list[Any] = []
    if filters.kinds:
        where.append(f"e.kind IN ({', '.join(str(KINDS.index(kind)) for kind in filters.kinds)})")
    for condition, value in (
        ("e.at >= ?", filters.since),
        ("e.at < ?", filters.until),
        ("t.name = ? COLLATE NOCASE", filters.tool),
        ("coalesce(e.session_id, f.session_id) = ?", filters.session_id),
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


def _match(row: Sequence[Any]) -> Match:
    found = Match(*row)
    return found._replace(
        kind=KINDS[row[3]],
        is_error=bool(found.is_error),
        path=os.fsdecode(row[10]),
        compressed=bool(found.compressed),
    )
