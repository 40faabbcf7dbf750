"""The tables of the index and their migrations.

Message text is not stored: a row points to the bytes of its source, and the full-text table is
contentless. Ids are consecutive and never reused, so text left in the full-text table after a file
was removed can match nothing. Consecutive ids keep the table small; the ``spans`` table says which
ids belong to which file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

APPLICATION_ID: Final = 0x44726167
"""``Drag``: distinguishes our database from those of other programs."""


def _first(connection: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE files (
            file_id INTEGER PRIMARY KEY AUTOINCREMENT,
            path BLOB NOT NULL UNIQUE,
            harness TEXT,
            dialect TEXT,
            archived INTEGER NOT NULL,
            compressed INTEGER NOT NULL,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            complete INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            lines INTEGER NOT NULL,
            head BLOB NOT NULL,
            tail BLOB NOT NULL,
            mark_line INTEGER,
            mark_offset INTEGER,
            mark_state BLOB,
            digest BLOB,
            session_id TEXT,
            origin TEXT,
            base_session_id TEXT,
            base_offset INTEGER,
            base_ordinal INTEGER,
            problem TEXT
        )""",
        # Covers the check whether anything has changed, which every command runs first over all
        # files.
        """CREATE INDEX files_by_state ON files
            (path, device, inode, size, mtime_ns, complete, file_id)""",
        """CREATE TABLE marks (
            file_id INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
            line INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            turn INTEGER NOT NULL,
            state BLOB NOT NULL,
            PRIMARY KEY (file_id, line)
        ) WITHOUT ROWID""",
        """CREATE TABLE sessions (
            file_id INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
            session_id TEXT NOT NULL,
            parent_session_id TEXT,
            origin TEXT,
            harness TEXT,
            version TEXT,
            model TEXT,
            cwd TEXT,
            title TEXT,
            started_at REAL,
            last_at REAL NOT NULL,
            turns INTEGER NOT NULL,
            undone INTEGER NOT NULL,
            outcome TEXT,
            is_open INTEGER NOT NULL,
            input_tokens INTEGER,
            cached_input_tokens INTEGER,
            cache_write_input_tokens INTEGER,
            output_tokens INTEGER,
            reasoning_output_tokens INTEGER,
            PRIMARY KEY (file_id, session_id)
        ) WITHOUT ROWID""",
        "CREATE INDEX sessions_by_id ON sessions (session_id)",
        "CREATE INDEX sessions_by_time ON sessions (last_at)",
        """CREATE TABLE entries (
            entry_id INTEGER PRIMARY KEY,
            file_id INTEGER NOT NULL,
            session_id TEXT,
            turn INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            tool INTEGER,
            at INTEGER,
            is_error INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            length INTEGER NOT NULL,
            line INTEGER NOT NULL
        )""",
        "CREATE TABLE folders (path BLOB PRIMARY KEY, mtime_ns INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE tools (tool INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        """CREATE TABLE spans (
            file_id INTEGER NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            PRIMARY KEY (file_id, first)
        ) WITHOUT ROWID""",
        """CREATE TABLE drafts (
            file_id INTEGER NOT NULL,
            entry_id INTEGER NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (file_id, entry_id)
        ) WITHOUT ROWID""",
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
        # An underscore is part of a name in nearly every programming language. Without
        # ``columnsize``, ranking hardly considers how often a word occurs in a message, only how
        # rare it is overall; with it, searching for a common word takes twice as long.
        """CREATE VIRTUAL TABLE texts USING fts5 (
            body, content='', columnsize=0,
            tokenize="unicode61 remove_diacritics 2 tokenchars '_'"
        )""",
        "INSERT INTO texts (texts, rank) VALUES ('automerge', 8)",
    ):
        connection.execute(statement)


def _with_turns(connection: sqlite3.Connection) -> None:
    """Number the messages of each file, and record the number at which each turn begins."""
    for statement in (
        "ALTER TABLE files ADD COLUMN mark_count INTEGER",
        "ALTER TABLE marks ADD COLUMN before INTEGER NOT NULL DEFAULT 0",
        # No foreign key to files: checking it would flush the full-text table's pending writes with
        # every turn.
        """CREATE TABLE turns (
            file_id INTEGER NOT NULL,
            turn INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            title TEXT,
            outcome TEXT,
            PRIMARY KEY (file_id, turn)
        ) WITHOUT ROWID""",
    ):
        connection.execute(statement)


def _with_names(connection: sqlite3.Connection) -> None:
    """Store the names that users gave to sessions. Before, the first prompt served as the title."""
    connection.execute(
        "CREATE TABLE names (session_id TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID"
    )
    connection.execute("DELETE FROM folders")  # forces a search that also finds the lists of names


STEPS: Final[tuple[Callable[[sqlite3.Connection], None], ...]] = (
    _first,
    _with_turns,
    _with_names,
)
"""Each step migrates from the version equal to its index to the next. Append only."""

VERSION: Final = len(STEPS)


def migrate(connection: sqlite3.Connection, *, to: int | None = None) -> None:
    """Migrate the tables step by step, each step atomically."""
    to = VERSION if to is None else to
    while (version := int(connection.execute("PRAGMA user_version").fetchone()[0])) < to:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have migrated while we waited for the lock.
            if int(connection.execute("PRAGMA user_version").fetchone()[0]) == version:
                STEPS[version](connection)
                connection.execute(f"PRAGMA user_version = {version + 1}")
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("COMMIT")
        except sqlite3.Error:
            if connection.in_transaction:  # a full disk rolls back on its own
                connection.execute("ROLLBACK")
            raise
