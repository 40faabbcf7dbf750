"""The files in the index: how far each was read, and how to recognize that it is unchanged."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from dragoman.store.database import Database


class FileRow(NamedTuple):
    """A file in the index."""

    file_id: int
    path: str
    harness: str | None
    dialect: str | None
    archived: bool
    compressed: bool
    device: int
    inode: int
    size: int
    mtime_ns: int
    complete: bool
    """Whether it was read to the end it had at that time."""
    offset: int
    """How many bytes were read, up to the end of a line; in uncompressed bytes for a compressed file."""
    lines: int
    head: bytes
    """The fingerprint of its first bytes."""
    tail: bytes
    """The fingerprint of the bytes before ``offset``."""
    mark_line: int | None
    mark_offset: int | None
    mark_state: bytes | None
    mark_count: int | None
    """How many messages come before the mark."""
    digest: bytes | None
    """The digest of its sessions at the mark."""
    session_id: str | None
    origin: str | None
    base_session_id: str | None
    base_offset: int | None
    base_ordinal: int | None
    problem: str | None


class MarkRow(NamedTuple):
    line: int
    offset: int
    turn: int
    """The number of the turn that begins there."""
    state: bytes
    before: int
    """How many messages come before it."""


class TurnRow(NamedTuple):
    """A turn of a file's own session."""

    turn: int
    seq: int
    """The number of its first message."""
    title: str | None = None
    outcome: str | None = None
    """How it ended; None while its end is not known."""


_FEW: Final = 100
"""How many sessions are looked up by their ids; of more, all are read."""
_COLUMNS: Final = ", ".join(FileRow._fields)
_MARK: Final = ", ".join(MarkRow._fields)
_CHANGED: Final = [name for name in FileRow._fields if name != "file_id"]


class Files:
    """Access to the files in the index."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, FileRow]:
        """Return every file by path."""
        found = self._database.rows(f"SELECT {_COLUMNS} FROM files")
        return {row.path: row for row in map(_row, found)}

    def states(self) -> dict[str, tuple[int, int, int, int, int, int]]:
        """Return device, inode, size, mtime, completeness and id of every file by path."""
        found = self._database.rows(
            "SELECT path, device, inode, size, mtime_ns, complete, file_id FROM files"
        )
        return {os.fsdecode(path): tuple(rest) for path, *rest in found}  # pyright: ignore[reportReturnType]

    def fast_states(self) -> Iterator[tuple[bytes, int, int, int, int]]:
        """Yield path (as bytes), inode, size, mtime and completeness of every file, with minimal work per row."""
        return self._database.each("SELECT path, inode, size, mtime_ns, complete FROM files")

    def folders(self) -> list[tuple[str, int]]:
        """Return the folders that were searched, with their modification times."""
        rows = self._database.rows("SELECT path, mtime_ns FROM folders")
        return [(os.fsdecode(path), mtime_ns) for path, mtime_ns in rows]

    def set_folders(self, folders: Mapping[str, int]) -> None:
        self._database.begin()
        self._database.write("DELETE FROM folders")
        given = [(os.fsencode(path), mtime_ns) for path, mtime_ns in folders.items()]
        self._database.write_many("INSERT INTO folders VALUES (?, ?)", given)
        self._database.commit()

    def get(self, file_id: int) -> FileRow | None:
        row = self._database.row(f"SELECT {_COLUMNS} FROM files WHERE file_id = ?", (file_id,))
        return _row(row) if row else None

    def at(self, path: str) -> FileRow | None:
        given = (os.fsencode(path),)
        row = self._database.row(f"SELECT {_COLUMNS} FROM files WHERE path = ?", given)
        return _row(row) if row else None

    def of_session(self, session_id: str) -> list[FileRow]:
        """Return the files of a session, oldest first."""
        found = self._database.rows(
            f"SELECT {_COLUMNS} FROM files WHERE file_id IN "
            "(SELECT file_id FROM sessions WHERE session_id = ?) ORDER BY file_id",
            (session_id,),
        )
        return [_row(row) for row in found]

    def sizes_of_sessions(self, sessions: Collection[str]) -> dict[str, list[tuple[int, int]]]:
        """Return size and mtime of the files of these sessions, oldest first, with one query."""
        wanted = dict.fromkeys(sessions)
        found: dict[str, list[tuple[int, int]]] = {name: [] for name in wanted}
        statement = "SELECT DISTINCT s.session_id, f.size, f.mtime_ns, f.file_id"
        statement += " FROM sessions s JOIN files f ON f.file_id = s.file_id"
        given: list[str] = []
        if len(wanted) <= _FEW:
            statement += f" WHERE s.session_id IN ({', '.join('?' * len(wanted))})"
            given = list(wanted)
        for name, size, mtime_ns, _ in self._database.rows(f"{statement} ORDER BY 4", given):
            if name in found:
                found[name].append((size, mtime_ns))
        return found

    def add(self, row: FileRow) -> int:
        """Insert a new file and return its id. The ``file_id`` of the given row is ignored."""
        marks = ", ".join("?" * len(_CHANGED))
        statement = f"INSERT INTO files ({', '.join(_CHANGED)}) VALUES ({marks})"
        return self._database.write(statement, _values(row))

    def update(self, row: FileRow) -> None:
        changes = ", ".join(f"{name} = ?" for name in _CHANGED)
        self._database.write(
            f"UPDATE files SET {changes} WHERE file_id = ?", (*_values(row), row.file_id)
        )

    def drop(self, file_id: int) -> None:
        """Remove a file and everything that was indexed from it."""
        spans = self._database.rows("SELECT first, last FROM spans WHERE file_id = ?", (file_id,))
        count = sum(last - first + 1 for first, last in spans)
        self._database.set_fact("orphans", int(self._database.fact("orphans") or 0) + count)
        self._database.write_many("DELETE FROM entries WHERE entry_id BETWEEN ? AND ?", spans)
        for table in ("spans", "drafts", "turns", "files"):
            self._database.write(f"DELETE FROM {table} WHERE file_id = ?", (file_id,))

    def add_marks(self, file_id: int, marks: list[MarkRow]) -> None:
        self._database.write_many(
            "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?, ?)",
            [(file_id, *mark) for mark in marks],
        )

    def add_turns(self, file_id: int, turns: Iterable[TurnRow]) -> None:
        """Insert turns, or update those already there."""
        self._database.write_many(
            "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?)",
            [(file_id, *turn) for turn in turns],
        )

    def turns(self, file_id: int) -> list[TurnRow]:
        """Return the turns of a file's own session, in order."""
        rows = self._database.rows(
            "SELECT turn, seq, title, outcome FROM turns WHERE file_id = ? ORDER BY turn",
            (file_id,),
        )
        return [TurnRow(*row) for row in rows]

    def mark_before(self, file_id: int, *, turn: int) -> MarkRow | None:
        """Return the last mark at or before this turn."""
        return self._mark(file_id, "turn <= ? ORDER BY turn DESC, line DESC", turn)

    def mark_before_line(self, file_id: int, line: int) -> MarkRow | None:
        return self._mark(file_id, "line <= ? ORDER BY line DESC", line)

    def mark_before_message(self, file_id: int, seq: int) -> MarkRow | None:
        """Return the last mark before the message with this number."""
        return self._mark(file_id, "before < ? ORDER BY before DESC", seq)

    def _mark(self, file_id: int, where: str, given: int) -> MarkRow | None:
        row = self._database.row(
            f"SELECT {_MARK} FROM marks WHERE file_id = ? AND {where} LIMIT 1",
            (file_id, given),
        )
        return MarkRow(*row) if row else None


def _row(values: tuple[object, ...]) -> FileRow:
    row = FileRow(*values)  # pyright: ignore[reportArgumentType]
    return row._replace(
        path=os.fsdecode(row.path),
        archived=bool(row.archived),
        compressed=bool(row.compressed),
        complete=bool(row.complete),
    )


def _values(row: FileRow) -> tuple[object, ...]:
    return (os.fsencode(row.path), *row[2:])
