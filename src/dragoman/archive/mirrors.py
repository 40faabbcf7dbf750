"""Sessions that are rows of a database, copied to files of lines in the cache.

The archive lists, indexes, searches, follows and exports files. So the rows of each session go to a file of its own,
``<cache>/rows/<database>/<session>.jsonl``, and that is a session file like any other. The files are refreshed whenever
sessions are looked for and the database has changed. A file only grows: a row that has changed is appended again, and
the parser takes the last state of each. That way a session that is being written can be followed.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from dragoman.store.locking import WriterLock
from dragoman.store.session_rows import DatabaseSession, SessionRows, UnknownLayout, session_rows

_log = logging.getLogger(__name__)
_FOLDER: Final = "rows"
_STATE: Final = "state.json"
_SUFFIX: Final = ".jsonl"
_LOCK_SECONDS: Final = 5.0


class _State(msgspec.Struct):
    """What the copies were made from."""

    stamp: str = ""
    sessions: dict[str, str] = {}
    problem: str = ""
    """Why the database could not be read when it had the stamp ``problem_stamp``."""
    problem_stamp: str = ""


class DatabaseMirror(NamedTuple):
    """The copies of one database."""

    database: str
    folder: str

    @classmethod
    def of(cls, database: str, cache: str) -> DatabaseMirror:
        name = f"{zlib.crc32(os.fsencode(database)):08x}"
        return cls(database, os.path.join(cache, _FOLDER, name))

    def refresh(self) -> None:
        """Copy what has changed in the database. Without access to it the copies stay as they are."""
        stamp = stamp_of(self.database)
        if not stamp or _read_state(self.folder).stamp == stamp:
            return
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            lock = WriterLock(os.path.join(self.folder, "lock"))
            if not lock.acquire(_LOCK_SECONDS):
                return  # another process is at it
            try:
                self._copy(stamp)
            except (OSError, sqlite3.Error, UnknownLayout) as problem:
                _log.info("%s was not read: %s", self.database, problem)
                state = _read_state(self.folder)
                state.problem, state.problem_stamp = _words(problem), stamp
                self._keep(state)
            finally:
                lock.release()
        except OSError as problem:
            _log.warning("%s was not copied: %s", self.database, problem)

    def problem(self) -> str | None:
        """Return why the database could not be read as it is now, as a sentence, or None."""
        state = _read_state(self.folder)
        if not state.problem or state.problem_stamp != stamp_of(self.database):
            return None
        return f"cannot read {self.database}: {state.problem}; its sessions may be missing"

    def paths(self) -> Iterator[str]:
        """Yield the copies."""
        with suppress(OSError), os.scandir(self.folder) as inside:
            for each in inside:
                if each.name.endswith(_SUFFIX):
                    yield each.path

    def _copy(self, stamp: str) -> None:
        before = _read_state(self.folder).sessions
        with session_rows(self.database) as rows:
            stored = rows.sessions()
            for session in stored:
                if before.get(session.session_id) != session.state:
                    self._append(rows, session, stamp)
        named = {session.session_id: session.state for session in stored}
        for path in list(self.paths()):
            if os.path.basename(path).removesuffix(_SUFFIX) not in named:
                os.unlink(path)  # deleted by its program
        self._keep(_State(stamp, named))

    def _keep(self, state: _State) -> None:
        temporary = os.path.join(self.folder, f"{_STATE}.new")
        _write(temporary, [msgspec.json.encode(state)], os.O_TRUNC)
        os.replace(temporary, os.path.join(self.folder, _STATE))

    def _append(self, rows: SessionRows, session: DatabaseSession, stamp: str) -> None:
        if not _is_name(session.session_id):
            return
        path = os.path.join(self.folder, f"{session.session_id}{_SUFFIX}")
        known: set[bytes] = set()
        with suppress(FileNotFoundError), open(path, "rb") as file:
            known.update(file)
        new = [line for line in rows.lines(session.session_id) if line not in known]
        # What is appended stays: nothing half changed may be in it.
        if rows.may_change and stamp_of(self.database) != stamp:
            raise BlockingIOError(errno.EAGAIN, "the database changed while it was read")
        if new:
            _write(path, new, os.O_APPEND)
        seconds = session.time_updated / 1000
        with suppress(OSError, OverflowError, ValueError):
            os.utime(path, (seconds, seconds))


def stamp_of(database: str) -> str:
    """What changes with the database: size and time of its file and of its log; empty if there is none."""
    states: list[str] = []
    for path in (database, f"{database}-wal"):
        try:
            stat = os.stat(path)
            states.append(f"{stat.st_mtime_ns}:{stat.st_size}:{stat.st_ino}")
        except OSError:
            states.append("-")
    return " ".join(states) if states[0] != "-" else ""


def _words(problem: Exception) -> str:
    words = problem.strerror if isinstance(problem, OSError) else None
    return words or str(problem) or type(problem).__name__


def _read_state(folder: str) -> _State:
    try:
        with open(os.path.join(folder, _STATE), "rb") as file:
            return msgspec.json.decode(file.read(), type=_State)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return _State()


def _write(path: str, lines: list[bytes], how: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | how | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.writelines(lines)


def _is_name(session_id: str) -> bool:
    """Whether a session's id can be a file's name: it comes from a database."""
    return session_id.replace("_", "").replace("-", "").isalnum() and len(session_id) < 200
