"""The tables of the live store, and the steps from each version of them to the next.

Ids are made of two numbers, so that what belongs together lies together and rows are only ever
appended: an entry's id is its session's number and its place in that session, a line's id is its
connection's number and its place in that connection. Both count from 1, without a gap.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

APPLICATION_ID: Final = 0x44726C76
"""``Drlv``: not the index, and nobody else's."""

PLACE_BITS: Final = 32
"""How many bits of an id are the place."""

OWN: Final = 0
"""The number of the session that nobody began: what a connection says about itself."""


SETTLING: Final = "kind IN ('turn_started', 'turn_ended', 'approval_requested')"
"""The entries that are looked for by their kind."""


def row_id(number: int, place: int) -> int:
    """A place that no row can have stands for the nearest that one can: the id stays among its neighbours."""
    return number << PLACE_BITS | min(max(0, place), (1 << PLACE_BITS) - 1)


def place_in(row: int) -> int:
    return row & (1 << PLACE_BITS) - 1


def _first(connection: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE connections (
            connection INTEGER PRIMARY KEY,
            harness TEXT NOT NULL,
            began_at REAL NOT NULL,
            is_closed INTEGER NOT NULL DEFAULT 0,
            is_pruned INTEGER NOT NULL DEFAULT 0
        )""",
        """CREATE TABLE journal (
            line_id INTEGER PRIMARY KEY,
            sent INTEGER NOT NULL,
            at REAL NOT NULL,
            length INTEGER,
            raw BLOB NOT NULL
        )""",
        """CREATE TABLE sessions (
            session INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL UNIQUE,
            body BLOB NOT NULL
        )""",
        """CREATE TABLE entries (
            entry_id INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            kind TEXT NOT NULL,
            connection INTEGER NOT NULL,
            line INTEGER NOT NULL,
            message BLOB NOT NULL
        )""",
        f"CREATE INDEX entries_settling ON entries (kind, entry_id) WHERE {SETTLING}",
        """CREATE TABLE approvals (
            session_id TEXT NOT NULL,
            approval_id TEXT NOT NULL,
            asked_at REAL NOT NULL,
            deadline_at REAL,
            PRIMARY KEY (session_id, approval_id)
        ) WITHOUT ROWID""",
        """CREATE TABLE keys (
            key TEXT PRIMARY KEY,
            at REAL NOT NULL,
            request BLOB NOT NULL,
            session_id TEXT NOT NULL
        ) WITHOUT ROWID""",
    ):
        connection.execute(statement)


def _accepted(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE accepted (
            number INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL,
            key TEXT,
            seq INTEGER NOT NULL,
            at REAL NOT NULL,
            text TEXT NOT NULL,
            images TEXT NOT NULL
        )"""
    )


STEPS: Final[tuple[Callable[[sqlite3.Connection], None], ...]] = (_first, _accepted)
"""Each leads from the version that is its place here to the next one. Only ever added to."""

VERSION: Final = len(STEPS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables up to date, one step at a time, each of them whole or not at all."""
    while (version := int(connection.execute("PRAGMA user_version").fetchone()[0])) < VERSION:
        connection.execute("BEGIN IMMEDIATE")
        try:
            STEPS[version](connection)
            connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("COMMIT")
        except sqlite3.Error:
            connection.execute("ROLLBACK")
            raise
