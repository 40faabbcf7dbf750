"""Tables that store nothing: they record what reading a file would write, for another process to write.

The index is the same whichever process has read a file: the same entries, under the same ids.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from dragoman.store.entries import IndexedLine, IndexedMessage, indexable
from dragoman.store.files import FileRow, MarkRow, TurnRow
from dragoman.store.sessions import IndexedSession

if TYPE_CHECKING:
    from dragoman.archive.index.file import IndexTables

_Rows: TypeAlias = list[Any]


class RecordedWrites:
    """What reading one file would write, in order."""

    def __init__(self) -> None:
        self._written: list[tuple[str, _Rows]] = []

    def add(self, table: str, rows: _Rows) -> None:
        if rows:
            self._written.append((table, rows))

    def take(self) -> bytes:
        """What was recorded since the last time, for :func:`replay`."""
        written, self._written = self._written, []
        return marshal.dumps(written)

    def tables(self) -> IndexTables:
        """Stand-ins for the tables that a new file is written to."""
        from dragoman.archive.index.file import IndexTables

        each: Any = (RecordingFiles(self), RecordingSessions(self), RecordingEntries(self))
        return IndexTables(*each)


class RecordingFiles:
    def __init__(self, recording: RecordedWrites) -> None:
        self._recording = recording

    def add(self, row: FileRow) -> int:
        self._recording.add("file", [tuple(row)])
        return row.file_id  # the other process knows the real one

    def update(self, row: FileRow) -> None:
        self._recording.add("update", [tuple(row)])

    def add_marks(self, file_id: int, marks: Sequence[MarkRow]) -> None:
        self._recording.add("marks", [tuple(mark) for mark in marks])

    def add_turns(self, file_id: int, turns: Iterable[TurnRow]) -> None:
        self._recording.add("turns", [tuple(turn) for turn in turns])


class RecordingSessions:
    def __init__(self, recording: RecordedWrites) -> None:
        self._recording = recording

    def replace(self, file_id: int, rows: Iterable[IndexedSession]) -> None:
        self._recording.add("sessions", [tuple(row) for row in rows])


class RecordingEntries:
    def __init__(self, recording: RecordedWrites) -> None:
        self._recording = recording

    def known_from(self, file_id: int, line: int) -> list[IndexedLine]:
        return []  # nothing of a new file is known

    def add(
        self, file_id: int, given: Sequence[tuple[IndexedMessage, str]], *, drafts: bool = False
    ) -> None:
        entries = [(tuple(entry), indexable(body)) for entry, body in given]
        self._recording.add("drafts" if drafts else "entries", entries)


def replay(tables: IndexTables, row: FileRow | None, recorded: bytes) -> FileRow | None:
    """Write what was recorded. Returns the file's row, which is None before it was added."""
    for table, rows in cast("list[tuple[str, _Rows]]", marshal.loads(recorded)):
        if table == "file":
            row = FileRow(*rows[0])
            row = row._replace(file_id=tables.files.add(row))
            continue
        assert row is not None  # the first that is recorded of any file is the file itself
        _write(tables, row.file_id, table, rows)
    return row


def _write(tables: IndexTables, file_id: int, table: str, rows: _Rows) -> None:
    if table == "update":
        tables.files.update(FileRow(*rows[0])._replace(file_id=file_id))
    elif table == "marks":
        tables.files.add_marks(file_id, [MarkRow(*mark) for mark in rows])
    elif table == "turns":
        tables.files.add_turns(file_id, [TurnRow(*turn) for turn in rows])
    elif table == "sessions":
        sessions = [IndexedSession(*each)._replace(file_id=file_id) for each in rows]
        tables.sessions.replace(file_id, sessions)
    else:
        entries = [(IndexedMessage(*entry), body) for entry, body in rows]
        tables.entries.add(file_id, entries, drafts=table == "drafts", are_indexable=True)
