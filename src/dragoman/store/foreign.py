"""Read the session list in a harness's own database, without ever modifying it.

SQLite writes next to a database even to read it: locks, and an index of its write-ahead log. So a
database with a log is copied together with the log, which may hold the newest rows; one without is
opened as immutable. Anything unexpected counts as having no list to compare with.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_TRIES: Final = 3


def listed_sessions(
    path: str | os.PathLike[str], table: str, id_column: str, path_column: str
) -> dict[str, str] | None:
    """Return the file paths in this table by session id, or None if it cannot be read."""
    # Qualified with ``t.``: SQLite treats an unknown bare name in double quotes as a string
    # literal.
    columns = f"t.{_name(id_column)}, t.{_name(path_column)}"
    statement = f"SELECT {columns} FROM {_name(table)} t"
    try:
        with opened(Path(path)) as connection:
            rows = connection.execute(statement).fetchall()
    except (OSError, sqlite3.Error):
        return None  # missing, different or damaged: the list is only used for comparison
    return {
        session_id: place
        for session_id, place in rows
        if isinstance(session_id, str) and isinstance(place, str)
    }


@contextmanager
def opened(path: Path) -> Generator[sqlite3.Connection]:
    """Open another program's database for reading. Raises ``OSError`` and ``sqlite3.Error``."""
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        how = "mode=ro&immutable=1"
        if _looks(_journal(path))[1]:
            copy, how = Path(folder, "copy.sqlite"), "mode=rw"
            if not _copied(path, copy):
                raise BlockingIOError(errno.EAGAIN, "the database keeps changing", str(path))
            path = copy
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)
        try:
            yield connection
        finally:
            connection.close()


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _journal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _copied(path: Path, copy: Path) -> bool:
    """Copy a database with its log. False if it kept changing during the copy."""
    for _ in range(_TRIES):
        before = _looks(path), _looks(_journal(path))
        shutil.copyfile(path, copy)
        shutil.copyfile(_journal(path), _journal(copy))
        if (_looks(path), _looks(_journal(path))) == before:
            return True
    return False


def _looks(path: Path) -> tuple[int, int]:
    """Return mtime and size; zeros if the file does not exist."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size
