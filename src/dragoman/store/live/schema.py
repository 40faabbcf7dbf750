"""The tables of the live store and their migrations.

Ids combine two numbers, so that related rows are adjacent and rows are only ever appended: an
entry's id is its session number and its position in that session, a line's id is its connection
number and its position in that connection. Both positions count from 1 without gaps.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

APPLICATION_ID: Final = 0x44726C76
"""``Drlv``: identifies the live store, as distinct from the index and from other programs' files."""

PLACE_BITS: Final = 32
"""How many bits of an id hold the position."""

OWN: Final = 0
"""The session number for messages of a connection that belong to no session."""


SETTLING: Final = "kind IN ('turn_started', 'turn_ended', 'approval_requested')"
"""The kinds of entries that are looked up by kind."""


def row_id(number: int, place: int) -> int:
    """Combine both numbers. A position out of range is clamped, so that the id stays within its group."""
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
"""Each step migrates from the version equal to its index to the next. Append only."""

VERSION: Final = len(STEPS)


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate the tables step by step, each step atomically."""
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
