"""Keep the index up to date: a short step in this process, the rest in a background process.

Callers that need a complete index wait in small steps (:meth:`IndexKeeper.wait`); others continue.
If another process holds the writer's lock, it does the work; if it dies, we take over. Without a
background process, or with an index in memory, the same steps do the work here.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from dragoman.about import VERSION
from dragoman.archive.finding import FoundFile, are_still_so, is_still_so
from dragoman.archive.index.names import take_names
from dragoman.archive.places import ArchivePlace
from dragoman.store.database import (
    NAME,
    SUSPECT,
    Database,
    IndexUnusable,
    move_aside,
    open_database,
)
from dragoman.store.files import Files

if TYPE_CHECKING:
    from dragoman.archive.index.background import IndexProcess
    from dragoman.archive.index.updating import IndexReport, Progress

_MOMENT_SECONDS: Final = 0.3
_DEEPEST: Final = 32
"""How many levels of forks are followed."""
_MOST_CALLED_SO: Final = 8


class IndexKeeper:
    """Keeps the index of one place up to date."""

    def __init__(self, place: ArchivePlace) -> None:
        self.place = place
        self._problem: str | None = None
        self._report: IndexReport | None = None
        self._troubles: list[str] = []
        self._told: list[str] = []
        """The problems with databases that were last reported."""
        self._background: IndexProcess | None = None
        self._has_no_helper = False
        self._is_aside = False
        self._step_seconds = _MOMENT_SECONDS
        self._found: list[FoundFile] = []
        self._open()

    def _open(self) -> None:
        self.database: Database = open_database(self.place.index_folder)
        self.files = Files(self.database)
        self.note = self.database.note
        """What had to be done about the index, as a sentence, or None."""
        if self.note:
            self._troubles.append(self.note)

    def close(self) -> None:
        if self._background is not None:
            self._background.end()
            self._background = None
        self.database.close()

    def index(
        self,
        progress: Callable[[Progress], None] | None = None,
        *,
        wait_seconds: float = 10.0,
        seconds: float = math.inf,
    ) -> IndexReport | None:
        """Update the index in this process. Return what was done, or None if nothing had changed.

        Stops after ``seconds`` and leaves the rest. Raises ``IndexUnusable``.
        """
        try:
            if self._is_unchanged():
                return None
            folders = self.place.folder_times()
            report = self._index(progress, wait_seconds, seconds)
            is_named = take_names(self.place, self.database)
            if report.is_whole and is_named and folders and self.database.can_write:
                self.files.set_folders(folders)
            return report if report.is_changed or not report.is_whole else None
        except SUSPECT:
            if self.database.path is None or not self.database.can_write:
                raise
            self.rebuild()
            return self._index(progress, wait_seconds, seconds)

    def rebuild(self) -> None:
        """Replace an index that is damaged in a way opening it does not detect."""
        self.database.close()
        path = os.path.join(self.place.index_folder, NAME)
        aside = move_aside(path).name if os.path.exists(path) else "nowhere"
        self._open()
        self.note = f"the index was damaged; it was moved to {aside} and is being rebuilt"
        self._troubles.append(self.note)

    def _index(
        self, progress: Callable[[Progress], None] | None, wait_seconds: float, seconds: float
    ) -> IndexReport:
        from dragoman.archive.index.updating import Indexer

        self._found = self.place.find()
        report = Indexer(self.database, progress).run(
            self._found, wait_seconds=wait_seconds, seconds=seconds
        )
        if self.database.can_write and report.is_done:
            self.database.set_fact("program", VERSION)
        return report

    def _is_unchanged(self) -> bool:
        """Whether folders and files are unchanged, which is faster to check than to search them."""
        if self.database.fact("program") != VERSION:
            return False
        if not self.place.paths:
            folders = self.files.folders()
            if not folders or not is_still_so(folders):
                return False
            # The index may be from before a harness was added, whose folders it has never searched.
            if not {path for path, _ in folders}.issuperset(self.place.searched):
                return False
        elif {found.path for found in self.place.find()} != self.files.states().keys():
            return False
        return are_still_so(self.files.fast_states())

    def begin(self) -> Progress | None:
        """Start an update without waiting. Return the progress, or None if it is done.

        A short step runs immediately, the rest in a background process.
        """
        if self._is_aside:
            return None  # this archive was detached from the shared index by ``prepare``
        if self._background is not None:
            return self.wait(0.0)
        if self.database.is_gone():
            self.database.close()
            self._open()
        return self._here(_MOMENT_SECONDS)

    def wait(self, seconds: float) -> Progress | None:
        """Let the update run for up to ``seconds``. Return the progress, or None if it is done."""
        if self._background is not None:
            outcome = self._background.wait(seconds)
            if outcome is None:
                return self._reported_progress()
            self._background = None
            if self.database.is_gone():
                self.database.close()
                self._open()
            if not outcome.has_answered:
                self._has_no_helper = True
                return self._here(seconds)
            self._come_to(outcome.report, outcome.problem)
        if self._report is None or self._report.is_done or self._problem is not None:
            return None
        if self._report.waited_for is not None and not self._is_free(seconds):
            return self._reported_progress()
        # Reading resumes at a mark, which is the start of a turn. A turn that takes longer than a
        # step would start over forever, so make each step longer than the last.
        self._step_seconds *= 2
        return self._here(max(seconds, self._step_seconds))

    def _here(self, seconds: float) -> Progress | None:
        """Do part of the work here; if there is more, start a background process if possible."""
        try:
            report = self.index(wait_seconds=0.0, seconds=seconds)
        except (IndexUnusable, OSError) as problem:
            self._come_to(None, str(problem))
            return None
        self._come_to(report, None)
        if report is not None:
            self.database.let_go()
        if report is None or report.is_done:
            return None
        if report.waited_for is not None:
            return self._reported_progress()
        if self.database.path is not None and not self._has_no_helper:
            from dragoman.archive.index.background import start

            self._background = start(self.place)
        return report.left

    def _come_to(self, report: IndexReport | None, problem: str | None) -> None:
        self._report, self._problem = report, problem
        if problem is not None:
            self._troubles.append(f"{problem}; results may be incomplete")
        if report is not None and report.is_done:
            self._troubles += [f"cannot read {path}: {why}" for path, why in report.unreadable[:5]]
            if (more := len(report.unreadable) - 5) > 0:
                self._troubles.append(f"cannot read {more} more files")

    def troubles(self) -> list[str]:
        """Return the problems with the index as sentences, each of them once."""
        problems = self.place.problems()
        self._troubles += [each for each in problems if each not in self._told]
        self._told = problems
        troubles, self._troubles = self._troubles, []
        return troubles

    def _is_free(self, seconds: float) -> bool:
        """Whether the other process that was updating the index has stopped."""
        lock = self.database.lock
        is_free = lock.acquire(seconds)
        lock.release()
        return is_free

    def _reported_progress(self) -> Progress:
        """Return the progress that the holder of the lock has published."""
        from dragoman.archive.index.updating import Progress

        reported = self.database.lock.progress()
        if len(reported) == len(Progress._fields):
            return Progress(*reported)
        before = self._report.left if self._report is not None else None
        return before or Progress(0, 0, 0, 0)

    def newest_left(self) -> float | None:
        """Return the mtime of the newest file that is not indexed yet, or None.

        Files are indexed newest first, and no message is newer than its file.
        """
        known = self.files.states()
        left = max((each.mtime_ns for each in self._found if not _is_in(each, known)), default=None)
        return left / 1e9 if left is not None else None

    def found_paths(self) -> set[str]:
        """Return the files found by the last search."""
        return {each.path for each in self._found}

    def prepare(self, session_id: str, progress: Callable[[Progress], None] | None = None) -> None:
        """Index the files of one session, and those that they continue, immediately.

        If another process is updating the index, or it cannot be written, use a separate index in
        memory.
        """
        try:
            if self._is_unchanged() or self._prepare(session_id, progress):
                return
        except IndexUnusable as problem:
            self._troubles.append(f"{problem}; reading this session without the index")
        self._is_aside = True
        self.database.close()
        self.database = open_database(None)
        self.files = Files(self.database)
        self._prepare(session_id, progress)

    def _prepare(self, wanted: str, progress: Callable[[Progress], None] | None) -> bool:
        """Do that in the current index, and return whether it was possible."""
        from dragoman.archive.index.updating import Indexer

        found = self.place.find()
        for _ in range(_DEEPEST):
            some = [each for each in found if _is_called(each, wanted)]
            if len(some) > _MOST_CALLED_SO:
                break  # too many matches to be one session's id
            report = Indexer(self.database, progress).run(some, are_all=False)
            is_ours = self.database.can_write and report.waited_for is None
            if not is_ours and not self._has_all(some):
                return False
            rows = [row for each in some if (row := self.files.at(each.path)) is not None]
            bases = (row.base_session_id for row in rows if row.base_session_id is not None)
            missing = [base for base in bases if not self.files.of_session(base)]
            if not missing:
                break
            wanted = missing[0]
        return True

    def _has_all(self, some: Sequence[FoundFile]) -> bool:
        known = self.files.states()
        return all(_is_in(each, known) for each in some)


def _is_called(found: FoundFile, wanted: str) -> bool:
    """Whether the id in a file's name starts with ``wanted``."""
    from dragoman.reading.identity import named_session

    name = named_session(found.path, found.harness)
    return name is not None and name.startswith(wanted)


def _is_in(found: FoundFile, known: dict[str, tuple[int, int, int, int, int, int]]) -> bool:
    """Whether the index has this file in the state found, or in a newer one."""
    state = known.get(found.path)
    if state is None or not state[4]:
        return False
    _, inode, size, mtime_ns, _, _ = state
    if mtime_ns == found.mtime_ns:
        return (inode, size) == (found.inode, found.size)
    return mtime_ns > found.mtime_ns
