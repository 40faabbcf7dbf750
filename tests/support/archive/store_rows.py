"""Rows for tests of the store."""

from __future__ import annotations

from typing import Any

from dragoman.store.database import Database
from dragoman.store.entries import KINDS, Entries, IndexedMessage
from dragoman.store.files import FileRow, Files
from dragoman.store.queries import parse
from dragoman.store.search import Filters, MessageSearch
from dragoman.store.sessions import IndexedSession, SessionTable


def file_row(path: str = "/home/a.jsonl", session_id: str = "s1") -> FileRow:
    values: dict[str, Any] = dict.fromkeys(FileRow._fields)
    for name in ("file_id", "device", "inode", "size", "mtime_ns", "offset", "lines"):
        values[name] = 0
    values |= {"path": path, "archived": False, "compressed": False, "complete": True}
    values |= {"head": b"", "tail": b"", "session_id": session_id, "harness": "codex"}
    return FileRow(**values)


def put(database: Database, *texts: str, path: str = "/home/a.jsonl", session: str = "s1") -> int:
    """A file whose entries say these things."""
    file_id = Files(database).add(file_row(path, session))
    row = IndexedSession(file_id, session, cwd=f"/work/{session}", harness="codex", last_at=1000.0)
    SessionTable(database).replace(file_id, [row])
    given = [
        (
            IndexedMessage(
                KINDS[place % 5], 1, place + 1, place * 10, 10, "Bash", place * 100.0, place == 1
            ),
            text,
        )
        for place, text in enumerate(texts)
    ]
    Entries(database).add(file_id, given)
    return file_id


def lines(database: Database, query: str, **filters: object) -> list[int]:
    found = MessageSearch(database).find(parse(query).match, Filters(**filters))  # pyright: ignore[reportArgumentType]
    return sorted(match.line for match in found.matches)
