"""Rows for tests of the store."""

from __future__ import annotations

from dragoman.store.files import FileRow


def file_row(path: str = "/home/a.jsonl", session_id: str = "s1") -> FileRow:
    values: dict[str, object] = dict.fromkeys(FileRow._fields)
    for name in ("file_id", "device", "inode", "size", "mtime_ns", "offset", "lines"):
        values[name] = 0
    values |= {"path": path, "archived": False, "compressed": False, "complete": True}
    values |= {"head": b"", "tail": b"", "session_id": session_id, "harness": "codex"}
    return FileRow(**values)  # pyright: ignore[reportArgumentType]
