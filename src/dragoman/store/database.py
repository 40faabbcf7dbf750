"""The database of the index: open it, migrate it, and move it aside if it is damaged.

The index is a cache that can be rebuilt from the session files. A database that cannot be read is
therefore moved aside and rebuilt, and where none can be written, one in memory is used instead.
``note`` then explains what was done, as a sentence.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from dragoman.errors import DragomanError
from dragoman.store.locking import WriterLock
from dragoman.store.schema import APPLICATION_ID, VERSION, migrate

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "index.sqlite3"
_BUSY_MS: Final = 10_000
_CACHE_KIB: Final = 16_000
_NOT_DAMAGED: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)
_HEAD: Final = b"SQLite format 3\0"


class IndexUnusable(DragomanError):
    """The index can no longer be read or written."""


class IndexDamaged(IndexUnusable):
    """The content of the index is not what was written. It can be rebuilt."""


SUSPECT: Final = (
    IndexDamaged,
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    AssertionError,
    OverflowError,
    MemoryError,
    RecursionError,
)
"""The errors that damaged values can cause, since values from the index are not validated when read."""
_opened: WeakSet[Database] = WeakSet()


class NotAnIndex(DragomanError):
    """Something else lies where the index should be. It is left untouched."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"the index cannot be kept at {path}: {why}. Move that file away, or set DRAGOMAN_CACHE to another folder"
        )


class Database:
    """An open index."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: str | None,
        *,
        note: str | None = None,
        can_write: bool = True,
    ) -> None:
        self._connection = connection
        self.path = path
        """The file; None for a database in memory."""
        self.note = note
        """What had to be done instead of simply opening the database, as a sentence."""
        self.can_write = can_write
        self._inode = _inode(path)
        if path is not None and can_write:
            _opened.add(self)
        self.lock = WriterLock(f"{path}.lock" if path and can_write else None)

    def rows(self, statement: str, given: Sequence[Any] = ()) -> list[Any]:
        with _sentences():
            return self._ask(statement, given).fetchall()

    def each(self, statement: str, given: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield rows one by one, which is faster than a list if there are many."""
        with _sentences():
            yield from self._ask(statement, given)

    def row(self, statement: str, given: Sequence[Any] = ()) -> Any:
        with _sentences():
            return self._ask(statement, given).fetchone()

    def _ask(self, statement: str, given: Sequence[Any]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, given)
        except UnicodeEncodeError:
            # Command-line arguments may not be valid UTF-8. Nothing in the index can match them.
            return self._connection.execute(statement, [_utf8(each) for each in given])

    def write(self, statement: str, given: Sequence[Any] = ()) -> int:
        """Execute a statement and return the id of the inserted row, if there is one."""
        with _sentences():
            return self._connection.execute(statement, given).lastrowid or 0

    def write_many(self, statement: str, given: Iterable[Sequence[Any]]) -> None:
        with _sentences():
            self._connection.executemany(statement, given)

    def begin(self) -> None:
        if not self._connection.in_transaction:
            self.write("BEGIN IMMEDIATE")

    def commit(self) -> None:
        if self._connection.in_transaction:
            self.write("COMMIT")

    def rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def fact(self, name: str) -> Any:
        """Return a stored property of the index itself."""
        found = self.row("SELECT value FROM facts WHERE name = ?", (name,))
        return found[0] if found else None

    def set_fact(self, name: str, value: Any) -> None:
        self.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def mark(self) -> tuple[int, int]:
        """Return a value that differs after every change, made by other processes (first) or by us (second)."""
        return int(self.row("PRAGMA data_version")[0]), self._connection.total_changes

    def is_gone(self) -> bool:
        """Whether the file was deleted or replaced, which is allowed because it is a cache."""
        return self.path is not None and _inode(self.path) != self._inode

    def size(self) -> int:
        """The size of the database in bytes."""
        pages, size = self.row("PRAGMA page_count")[0], self.row("PRAGMA page_size")[0]
        return int(pages) * int(size)

    def shrink(self) -> None:
        """Release free pages and checkpoint the write-ahead log as far as readers allow."""
        with _sentences():
            # A script, because the pragma works page by page and ``execute`` would only free the
            # first.
            self._connection.executescript("PRAGMA incremental_vacuum")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def let_go(self) -> None:
        """Release the page cache, which otherwise grows with the index up to its limit."""
        self.write("PRAGMA shrink_memory")

    def close(self) -> None:
        self._connection.close()
        self.lock.release()


def _utf8(given: Any) -> Any:
    return given.encode("utf-8", "replace").decode() if isinstance(given, str) else given


def _inode(path: str | None) -> int | None:
    try:
        return os.stat(path).st_ino if path is not None else None
    except OSError:
        return None


@contextmanager
def _sentences() -> Generator[None]:
    try:
        yield
    except UnicodeDecodeError as problem:
        raise IndexDamaged(f"the index is malformed: {problem}") from problem
    except sqlite3.ProgrammingError:
        raise  # for example a closed connection: a bug in the caller, not damage in the index
    except sqlite3.DatabaseError as problem:
        code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise IndexUnusable("the disk is full: the index could not be written") from problem
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY):
            raise IndexUnusable(f"the index cannot be used: {problem}") from problem
        if "fts5: syntax error" in str(problem):
            raise
        raise IndexDamaged(f"the index is malformed: {problem}") from problem


def set_aside() -> list[str]:
    """Move aside every index that this process has open, and return their new names."""
    names: list[str] = []
    for database in list(_opened):
        _opened.discard(database)
        database.close()
        if database.path is not None and os.path.exists(database.path):
            names.append(move_aside(database.path).name)
    return names


def open_database(folder: str | os.PathLike[str] | None) -> Database:
    """Open the index in this folder, creating it if needed; for None, or if that fails, use memory."""
    if folder is None:
        return _in_memory(None)
    path = os.path.join(folder, NAME)
    try:
        os.makedirs(os.path.dirname(os.path.abspath(folder)), exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)  # private, because it contains text of sessions
        return _open(path)
    except (OSError, sqlite3.OperationalError) as problem:
        return _read_only(path) or _in_memory(
            f"the index cannot be kept in {folder} ({_reason(problem)}); "
            "using a temporary one in memory"
        )


def _open(path: str) -> Database:
    note = None
    problem = _problem_with(path)
    if problem is not None:
        aside = move_aside(path)
        note = f"the index {problem}; it was moved to {aside.name} and is being rebuilt"
    connection = _connected(path)
    try:
        # only takes effect while the database is empty
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return Database(connection, path, note=note)


def _connected(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_MS / 1000)
    try:
        _set_up(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")


def _problem_with(path: str) -> str | None:
    """Return why this database cannot be used, as words that follow "the index", or None."""
    if not os.path.exists(path):
        return None
    if not os.path.isfile(
        path
    ):  # before ``getsize``: a pipe has no size, and opening it would block forever
        raise NotAnIndex(path, "it is not a file")
    if not os.path.getsize(path):
        return None
    _check_head(path)
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_MS / 1000)
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version:
            connection.execute("SELECT value FROM facts LIMIT 1").fetchone()
    except sqlite3.OperationalError as problem:
        if "no such table" in str(problem):
            return "belongs to another program"
        if getattr(problem, "sqlite_errorcode", 0) & 0xFF in _NOT_DAMAGED:
            raise
        return f"is damaged ({problem})"
    except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
        return f"is damaged ({problem})"
    finally:
        connection.close()
    if version > VERSION:
        return "was written by a newer version of this program"
    if version < 0:
        return f"is damaged (its version is {version})"
    if version and owner != APPLICATION_ID:
        return "belongs to another program"
    return _problem_of_version(path, version, owner) if version < VERSION else None


def _problem_of_version(path: str, version: int, owner: int) -> str | None:
    """Return a problem if the tables are not those of the older version that the database claims to have."""
    with (
        closing(sqlite3.connect(path, isolation_level=None, timeout=_BUSY_MS / 1000)) as old,
        closing(sqlite3.connect(":memory:", isolation_level=None)) as expected,
    ):
        migrate(expected, to=version)
        if _tables(old) == _tables(expected):
            return None
    if owner != APPLICATION_ID:
        return "belongs to another program"
    return f"is damaged (its tables are not those of version {version})"


def _tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    query = (
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL ORDER BY name"
    )
    return [(name, " ".join(sql.split())) for name, sql in connection.execute(query)]


def _check_head(path: str) -> None:
    """Raise ``NotAnIndex`` for a file that was never a database: it belongs to someone else, so leave it."""
    with open(path, "rb") as file:
        head = file.read(100)
    is_like = sum(ours == theirs for ours, theirs in zip(_HEAD, head, strict=False))
    if is_like < len(_HEAD) // 2 and any(head) and head[68:72] != APPLICATION_ID.to_bytes(4, "big"):
        raise NotAnIndex(path, "it is not a database")


def free_name(path: Path) -> Path:
    """Return the first name ``PATH.old-N`` that no file has."""
    number = 1
    while (aside := path.with_name(f"{path.name}.old-{number}")).exists():
        number += 1
    return aside


def move_aside(path: str | os.PathLike[str], *, keep_log: bool = False) -> Path:
    """Rename a database out of the way and return its new path.

    With ``keep_log``, its write-ahead log is moved too, because committed data may exist only
    there.
    """
    from pathlib import Path  # slow to import and rarely needed

    path = Path(path)
    aside = free_name(path)
    path.replace(aside)
    if keep_log:
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}-wal").replace(aside.with_name(f"{aside.name}-wal"))
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    return aside


def _read_only(path: str) -> Database | None:
    if not os.access(path, os.R_OK):
        return None
    from pathlib import Path

    # ``immutable``: in a folder that is not writable, SQLite cannot create its WAL files. It then
    # reads only what was checkpointed, which may be too little to be usable.
    for way in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(
            f"{Path(path).absolute().as_uri()}?{way}", uri=True, isolation_level=None
        )
        try:
            _set_up(connection)
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            connection.execute("SELECT count(*) FROM sessions").fetchone()
        except sqlite3.DatabaseError:
            version = 0
        except BaseException:
            connection.close()
            raise
        if version == VERSION:
            folder = os.path.dirname(path)
            note = f"the index in {folder} cannot be written; using it in its last state"
            return Database(connection, path, note=note, can_write=False)
        connection.close()
    return None


def _in_memory(note: str | None) -> Database:
    connection = _connected(":memory:")
    try:
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return Database(connection, None, note=note)


def _reason(problem: Exception) -> str:
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
