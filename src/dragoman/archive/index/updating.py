"""Bring the index in line with the disk: read what is new, drop what is gone.

An unchanged file costs one ``stat``. A file that has grown costs its last turn, a moved one
nothing, a replaced or truncated one a full read. Work is committed in consistent pieces: if the
process is killed, or its time is up, the current piece is lost and the next run continues after the
last one.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from dragoman.archive.finding import FoundFile
from dragoman.archive.index import fingerprints
from dragoman.archive.index.ahead import ReadAhead, ReaderDied, can_read_ahead
from dragoman.archive.index.file import IndexTables, index_file
from dragoman.reading.regular import open_regular
from dragoman.store.database import Database
from dragoman.store.entries import Entries
from dragoman.store.files import FileRow, Files
from dragoman.store.maintenance import clear, orphans, tidy, untidy
from dragoman.store.sessions import SessionTable

EDITION: Final = 4
"""Incremented when the same files would give a different index. An index of another edition is rebuilt."""

_COMMIT_ENTRIES: Final = 4000
_COMMIT_SECONDS: Final = 2.0
_LITTLE: Final = 2_000_000
"""How many new bytes are read without regard to the time: handing them on would take longer."""
_TIDY_ENTRIES: Final = 20_000
_PUBLISH_SECONDS: Final = 0.1


class Progress(NamedTuple):
    """The progress of an update."""

    files: int
    all_files: int
    bytes: int
    all_bytes: int


class IndexReport(NamedTuple):
    """What an update has done."""

    new: int = 0
    grown: int = 0
    moved: int = 0
    replaced: int = 0
    vanished: int = 0
    unreadable: tuple[tuple[str, str], ...] = ()
    """Files that could not be read, and why."""
    bytes_read: int = 0
    waited_for: int | None = None
    """The process that is updating the index instead, if it did not finish in time."""
    left: Progress | None = None
    """The progress when the time was up; None if the update is finished."""

    @property
    def is_done(self) -> bool:
        """Whether everything possible has been done."""
        return self.waited_for is None and self.left is None

    @property
    def is_whole(self) -> bool:
        """Whether the index is now complete."""
        return self.is_done and not self.unreadable

    @property
    def is_changed(self) -> bool:
        return bool(self.new or self.grown or self.moved or self.replaced or self.vanished)


class UpdatePlan(NamedTuple):
    """The work of an update."""

    work: list[tuple[FoundFile, int | None]]
    """Files to read, newest first, with their ids if known."""
    gone: list[tuple[str, int]]
    unread: int
    """How many bytes are new."""


def plan(found: Sequence[FoundFile], database: Database) -> UpdatePlan:
    """Compare the files with the index and return what has to be done."""
    known = Files(database).states()
    work: list[tuple[FoundFile, int | None]] = []
    unread = 0
    for each in found:
        state = known.pop(each.path, None)
        if state is None:
            work.append((each, None))
            unread += each.size
        elif state[:5] != (each.device, each.inode, each.size, each.mtime_ns, 1):
            work.append((each, state[5]))
            has_grown = state[4] and each.size >= state[2]
            unread += each.size - state[2] if has_grown else each.size
    work.sort(key=lambda pair: pair[0].mtime_ns, reverse=True)
    return UpdatePlan(work, [(path, state[5]) for path, state in known.items()], unread)


def is_up_to_date(found: Sequence[FoundFile], database: Database) -> bool:
    the_plan = plan(found, database)
    return not the_plan.work and not the_plan.gone and database.fact("edition") == EDITION


class _OutOfTime(Exception):
    """The time is up, and everything read so far is committed."""


class Indexer:
    def __init__(
        self, database: Database, progress: Callable[[Progress], None] | None = None
    ) -> None:
        self._database = database
        self._tables = IndexTables(Files(database), SessionTable(database), Entries(database))
        self._listener = progress
        self._progress = Progress(0, 0, 0, 0)
        self._uncommitted = 0
        self._committed_at = time.monotonic()
        self._published_at = self._ends_at = math.inf
        self._ahead: ReadAhead | None = None

    def run(
        self,
        found: Sequence[FoundFile],
        *,
        wait_seconds: float = 0.0,
        seconds: float = math.inf,
        are_all: bool = True,
    ) -> IndexReport:
        """Update the index with these files, which are all files if ``are_all``.

        If another process is updating it, wait up to ``wait_seconds``, then leave the work to that
        process. After ``seconds`` of work, the rest is left to the next run.
        """
        lock = self._database.lock
        if not self._database.can_write:
            return IndexReport()
        if not lock.acquire(wait_seconds):
            return IndexReport(waited_for=lock.holder() or 0)
        self._ends_at = time.monotonic() + seconds
        try:
            return self._run(found, are_all)
        except BaseException:
            self._database.rollback()
            raise
        finally:
            self._stop_ahead()
            lock.release()

    def _run(self, found: Sequence[FoundFile], are_all: bool) -> IndexReport:
        if self._database.fact("edition") != EDITION or self._has_too_many_orphans():
            clear(self._database, EDITION)
            self._tables.entries.forget_tools()
        the_plan = plan(found, self._database)
        if the_plan.unread <= _LITTLE:
            self._ends_at = math.inf
        report = IndexReport()
        gone = dict(the_plan.gone) if are_all else {}
        self._progress = Progress(
            0, len(the_plan.work), 0, sum(each.size for each, _ in the_plan.work)
        )
        self._published_at = -math.inf
        unreadable: list[tuple[str, str]] = []
        if not gone and math.isinf(self._ends_at):
            self._read_ahead([each for each, file_id in the_plan.work if file_id is None])
        for number, (each, file_id) in enumerate(the_plan.work):
            before = self._progress.bytes
            self._publish(files=number)
            try:
                if time.monotonic() >= self._ends_at:
                    raise _OutOfTime
                report = self._one(each, file_id, gone, report)
            except FileNotFoundError:
                continue  # moved since it was found; the next run finds it at its new path
            except OSError as problem:
                unreadable.append((each.path, problem.strerror or str(problem)))
            except _OutOfTime:
                self._database.commit()
                return report._replace(unreadable=tuple(unreadable), left=self._progress)
            self._progress = self._progress._replace(bytes=before + each.size)
        for file_id in gone.values():
            self._database.begin()
            self._tables.files.drop(file_id)
            report = report._replace(vanished=report.vanished + 1)
        self._commit()
        if the_plan.work:
            self._published_at = -math.inf
            self._publish(files=len(the_plan.work))
        if untidy(self._database) >= _TIDY_ENTRIES:
            tidy(self._database)
        return report._replace(unreadable=tuple(unreadable))

    def _publish(self, **changes: int) -> None:
        """Publish the progress to the listener, and to processes waiting for the lock."""
        self._progress = self._progress._replace(**changes)
        now = time.monotonic()
        if now - self._published_at < _PUBLISH_SECONDS:
            return
        self._published_at = now
        self._database.lock.publish(self._progress)
        if self._listener is not None:
            self._listener(self._progress)

    def _has_too_many_orphans(self) -> bool:
        count = orphans(self._database)
        # To count the entries takes longer than to index a new row.
        return count > _TIDY_ENTRIES and count > self._tables.entries.count()

    def _one(
        self, found: FoundFile, file_id: int | None, gone: dict[str, int], report: IndexReport
    ) -> IndexReport:
        row = self._tables.files.get(file_id) if file_id is not None else None
        self._database.begin()
        if row is None:
            row = self._moved(found, gone)
            if row is not None:
                del gone[row.path]
                report = report._replace(moved=report.moved + 1)
                row = row._replace(path=found.path, archived=found.archived)
                if row.size == found.size and row.complete:
                    self._tables.files.update(_as_found(row, found))
                    return report
        if row is not None and not _goes_on(found, row):
            self._tables.files.drop(row.file_id)
            row = None
            report = report._replace(replaced=report.replaced + 1)
        elif row is None:
            report = report._replace(new=report.new + 1)
        elif row.complete and row.size == found.size and row.dialect is not None:
            self._tables.files.update(_as_found(row, found))  # only its mtime changed
            return report
        else:
            report = report._replace(grown=report.grown + 1)
        before = self._progress.bytes

        def after(entries: int, bytes_read: int) -> None:
            self._publish(bytes=before + min(bytes_read, found.size))
            self._after(entries)

        count = self._index_file(found, row, after)
        self._uncommitted += 1  # so that thousands of small files are committed in between, too
        return report._replace(bytes_read=report.bytes_read + count)

    def _read_ahead(self, found: Sequence[FoundFile]) -> None:
        """Let other processes read new files, if that is faster."""
        copies = can_read_ahead(found)
        if copies:
            with suppress(OSError):  # no process available: this one reads the files
                self._ahead = ReadAhead(found, copies, self._database.lock.abandon)

    def _stop_ahead(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.close()

    def _index_file(
        self, found: FoundFile, row: FileRow | None, after: Callable[[int, int], None]
    ) -> int:
        if row is None and self._ahead is not None:
            try:
                count = self._ahead.take(self._tables, found, after)
            except ReaderDied:
                self._stop_ahead()
                row = self._tables.files.at(found.path)  # as far as it was written
            else:
                if count is not None:
                    return count
        return index_file(self._tables, found, row, after)

    def _after(self, entries: int) -> None:
        """Commit regularly. Raises ``_OutOfTime`` when the time is up."""
        self._uncommitted += entries
        now = time.monotonic()
        if (
            self._uncommitted >= _COMMIT_ENTRIES
            or now - self._committed_at >= _COMMIT_SECONDS
            or now >= self._ends_at
        ):
            self._commit()
            self._database.begin()
            self._committed_at = now
        if now >= self._ends_at:
            raise _OutOfTime

    def _commit(self) -> None:
        if self._uncommitted:
            self._database.begin()
            self._database.set_fact("untidy", untidy(self._database) + self._uncommitted)
            self._uncommitted = 0
        self._database.commit()

    def _moved(self, found: FoundFile, gone: dict[str, int]) -> FileRow | None:
        """Return the row of this file from before it was moved, if it was moved."""
        for path, file_id in gone.items():
            row = self._tables.files.get(file_id)
            if row is None or row.size > found.size or row.session_id is None:
                continue
            is_inode = (row.device, row.inode) == (found.device, found.inode)
            is_name = os.path.basename(path) == os.path.basename(found.path)
            if (is_inode or is_name) and not row.compressed and _goes_on(found, row):
                return row
        return None


def _as_found(row: FileRow, found: FoundFile) -> FileRow:
    return row._replace(
        device=found.device, inode=found.inode, size=found.size, mtime_ns=found.mtime_ns
    )


def _goes_on(found: FoundFile, row: FileRow) -> bool:
    """Whether the part of a file that we read is still its beginning."""
    if row.compressed or row.dialect is None:
        return not row.complete and (row.size, row.mtime_ns) == (found.size, found.mtime_ns)
    if found.size < row.offset:
        return False
    if not row.head:
        # its first read was interrupted before fingerprints were stored
        return row.inode == found.inode
    with open_regular(found.path) as file:
        return fingerprints.is_same(file.raw, row.offset, head_was=row.head, tail_was=row.tail)
