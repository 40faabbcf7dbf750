"""``dragoman.archive()``: every saved session of this user, listed, opened, searched and followed.

What only some calls need is imported when they are made: a list that has not changed must be quick.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from dragoman.about import VERSION
from dragoman.archive.finding import (
    Found,
    absolute,
    are_still_so,
    by_hand,
    cache_path,
    folders_of,
    is_still_so,
    walk,
)
from dragoman.archive.homes import all_homes
from dragoman.archive.saved import SavedSession
from dragoman.errors import UsageError
from dragoman.store.database import NAME, Database, IndexUnusable, move_aside, open_database
from dragoman.store.files import Files
from dragoman.store.sessions import Sessions

if TYPE_CHECKING:
    from dragoman.archive.checking_index import IndexCheck
    from dragoman.archive.following import Heard
    from dragoman.archive.indexing import Progress, Report
    from dragoman.archive.searching import Hit, Results
    from dragoman.store.search import Filters, Match


_SMALL: Final = 64_000_000
"""How many bytes are indexed without asking whether all of them are needed."""
_NEWEST: Final = 8


class Archive:
    """The saved sessions below some homes, or in files given by hand, and the index of them."""

    def __init__(
        self,
        *,
        home: str | os.PathLike[str] | None = None,
        paths: Sequence[str | os.PathLike[str]] = (),
        cache: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``home`` stands for every harness's own; with ``paths`` only these files are looked at."""
        given = os.environ if environment is None else environment
        folder = str(os.fspath(cache)) if cache is not None else cache_path(given)
        self._paths = [absolute(path) for path in paths]
        self._homes = [
            (each, absolute(home if home is not None else each.folder(given)))
            for each in (all_homes(folder) if not paths else ())
        ]
        key = "\0".join(self._paths or [home for _, home in self._homes])
        self._folder = os.path.join(folder, f"{zlib.crc32(os.fsencode(key)):08x}")
        self._open()

    def _open(self) -> None:
        database = open_database(self._folder)
        self._database: Database = database
        self._files = Files(database)
        self._sessions = Sessions(database)
        self.note = database.note
        """What had to be done about the index, as a sentence; None if all is well."""

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folders(self) -> list[str]:
        """Where sessions are looked for."""
        return self._paths or [home for _, home in self._homes]

    @property
    def index_folder(self) -> str:
        """Where the index is kept."""
        return self._folder

    def find(self) -> list[Found]:
        """The files that are there now."""
        if self._paths:
            return list(by_hand(self._paths))
        return [found for home, folder in self._homes for found in walk(home, folder)]

    def index(
        self, progress: Callable[[Progress], None] | None = None, *, wait_seconds: float = 10.0
    ) -> Report | None:
        """Bring the index up to date; what that took, or None if nothing had changed."""
        try:
            if self._is_unchanged():
                return None
            folders = self._folders()
            report = self._index(self.find(), progress, wait_seconds)
            if report.is_whole and folders and self._database.can_write:
                self._files.set_folders(folders)
            return report if report.is_changed or not report.is_whole else None
        except IndexUnusable as problem:
            if "malformed" not in str(problem) and "not a database" not in str(problem):
                raise
            # Damaged in a place that opening it does not look at. It is a cache: begin anew.
            self._database.close()
            aside = move_aside(os.path.join(self._folder, NAME))
            self._open()
            self.note = f"the index was damaged; it was moved to {aside.name} and is built anew"
            return self._index(self.find(), progress, wait_seconds)

    def prepare(
        self, session_id: str | None, progress: Callable[[Progress], None] | None = None
    ) -> Report | None:
        """Index what it takes to open one session (None: the newest), if all would take long."""
        found = self.find()
        known = self._files.states()
        missing = sum(each.size for each in found if each.path not in known)
        if missing < _SMALL:
            return self.index(progress)
        if session_id is None:
            some = sorted(found, key=lambda each: each.mtime_ns, reverse=True)[:_NEWEST]
        else:
            some = [each for each in found if session_id in os.path.basename(each.path)]
        from dragoman.archive.indexing import Indexer

        report = Indexer(self._database).run(some, are_all=False)
        is_whole = some and all(
            row.base_session_id is None or self._files.of_session(row.base_session_id)
            for each in some
            if (row := self._files.at(each.path)) is not None
        )
        return report if is_whole else self.index(progress)

    def _is_unchanged(self) -> bool:
        """Whether folders and files are as they were, which is quicker to see than to find them."""
        if self._database.fact("program") != VERSION:
            return False
        if not self._paths:
            folders = self._files.folders()
            if not folders or not is_still_so(folders):
                return False
        elif {found.path for found in self.find()} != self._files.states().keys():
            return False
        return are_still_so(self._files.glance())

    def _folders(self) -> dict[str, int]:
        now = time.time_ns()
        return {
            path: mtime_ns
            for home, folder in self._homes
            for path, mtime_ns in folders_of(home, folder, now).items()
        }

    def _index(
        self, found: list[Found], progress: Callable[[Progress], None] | None, wait_seconds: float
    ) -> Report:
        from dragoman.archive.indexing import Indexer

        report = Indexer(self._database, progress).run(found, wait_seconds=wait_seconds)
        if self._database.can_write and report.waited_for is None:
            self._database.set_fact("program", VERSION)
        return report

    def index_check(self) -> IndexCheck:
        """What says of a file how the index is out of step with it. The index is taken as it is."""
        from dragoman.archive.checking_index import IndexCheck

        return IndexCheck(self._files, self._folder, self.folders)

    def sessions(
        self,
        *,
        project: str | os.PathLike[str] | None = None,
        since: float | None = None,
        until: float | None = None,
        harness: str | None = None,
        archived: bool | None = None,
        top: bool = False,
        limit: int | None = None,
    ) -> list[SavedSession]:
        """The sessions in the index, the newest first; with ``top`` only those a user began.

        Times are seconds since 1970. ``project`` is a folder, with all below it, or its last name.
        """
        listed = self._sessions.list(
            project=_project(project),
            since=since,
            until=until,
            harness=harness,
            archived=archived,
            top=top,
            limit=limit,
        )
        return [SavedSession(each, self._files, self._sessions) for each in listed]

    def get(self, session_id: str) -> SavedSession:
        """The session with this id, or with the only one that begins so."""
        matching = self._sessions.matching(session_id) if session_id else []
        exact = [each for each in matching if each.row.session_id == session_id] or matching
        if not exact:
            raise UsageError(
                f"there is no session {session_id!r} in {', '.join(self.folders)}; "
                "`dragoman sessions` lists them"
            )
        if len(exact) > 1:
            some = ", ".join(each.row.session_id for each in exact[:4])
            more = f" and {len(exact) - 4} more" if len(exact) > 4 else ""
            raise UsageError(f"{session_id!r} may be any of {len(exact)} sessions: {some}{more}")
        return SavedSession(exact[0], self._files, self._sessions)

    def last(self, *, project: str | os.PathLike[str] | None = None) -> SavedSession:
        """The session in which something was said last."""
        newest = self.sessions(project=project, top=True, limit=1)
        if not newest:
            where = f" for {os.fspath(project)}" if project else ""
            raise UsageError(f"there are no sessions{where} in {', '.join(self.folders)}")
        return newest[0]

    def search(self, query: str, filters: Filters | None = None, *, limit: int = 20) -> Results:
        """The messages that match a query (see :mod:`dragoman.store.queries`), best first."""
        from dragoman.archive import searching

        return searching.search(self._database, query, _placed(filters), limit)

    def scan(
        self,
        text: str,
        filters: Filters | None = None,
        *,
        limit: int = 20,
        ignore_case: bool = False,
    ) -> Results:
        """The messages that hold exactly this text, found by reading every file, the newest first."""
        from dragoman.archive import searching

        return searching.scan(self._database, text, _placed(filters), limit, ignore_case)

    def around(self, match: Match, reach: int = 2) -> list[Hit]:
        """A match and its neighbours in the session."""
        from dragoman.archive import searching

        return searching.around(self._database, match, reach)

    def tail(self, session_id: str | None = None) -> Iterator[list[Heard]]:
        """What is said from now on, in all sessions or in one, as it is written. Never ends.

        Gives an empty list whenever there is nothing new, about twice a second.
        """
        from dragoman.archive.following import follow

        only = self.get(session_id).path if session_id is not None else None
        return follow(self.find, only=only)


def archive(
    *,
    home: str | os.PathLike[str] | None = None,
    paths: Sequence[str | os.PathLike[str]] = (),
    cache: str | os.PathLike[str] | None = None,
    index: bool = True,
) -> Archive:
    """The saved sessions of this user, with an index that is up to date.

    >>> for session in dragoman.archive().sessions(limit=10):  # doctest: +SKIP
    ...     print(session.title, session.tokens)
    """
    opened = Archive(home=home, paths=paths, cache=cache)
    if index:
        opened.index()
    return opened


def _project(project: str | os.PathLike[str] | None) -> str | None:
    if project is None:
        return None
    name = str(os.fspath(project))
    return absolute(name) if name.startswith((".", "~", "/")) else name


def _placed(filters: Filters | None) -> Filters:
    from dragoman.store.search import ANY

    return ANY if filters is None else filters._replace(project=_project(filters.project))
