"""``dragoman.archive()``: every saved session of this user, listed, opened, searched and followed.

What only some calls need is imported when they are made: a list that has not changed must be quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dragoman.archive.finding import FoundFile, absolute
from dragoman.archive.index.keeping import IndexKeeper
from dragoman.archive.places import ArchivePlace
from dragoman.archive.saved import SavedSession
from dragoman.errors import UsageError
from dragoman.store.sessions import ListedSession, SessionTable

if TYPE_CHECKING:
    from dragoman.archive.care.index import IndexCheck
    from dragoman.archive.following import FollowedMessage
    from dragoman.archive.index.updating import IndexReport, Progress
    from dragoman.archive.search.searching import Results, SearchHit
    from dragoman.store.database import Database
    from dragoman.store.files import Files
    from dragoman.store.search import Filters, SearchMatch


class SessionArchive:
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
        self._keeper = IndexKeeper(ArchivePlace.of(home, paths, cache, given))

    @property
    def _database(self) -> Database:
        return self._keeper.database

    @property
    def _files(self) -> Files:
        return self._keeper.files

    @property
    def _sessions(self) -> SessionTable:
        return SessionTable(self._keeper.database)

    @property
    def note(self) -> str | None:
        """What had to be done about the index, as a sentence; None if all is well."""
        return self._keeper.note

    def troubles(self) -> list[str]:
        """Why the index is not as it should be, in sentences; each is given once."""
        return self._keeper.troubles()

    def close(self) -> None:
        """Let go of the index. If it is being brought up to date, the rest is left for the next time."""
        self._keeper.close()

    def __enter__(self) -> SessionArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def place(self) -> ArchivePlace:
        """Where it looks for sessions, and keeps its index."""
        return self._keeper.place

    @property
    def folders(self) -> list[str]:
        """Where sessions are looked for."""
        return self._keeper.place.folders

    @property
    def index_folder(self) -> str:
        """Where the index is kept."""
        return self._keeper.place.index_folder

    def find(self) -> list[FoundFile]:
        """The files that are there now."""
        return self._keeper.place.find()

    def index(
        self, progress: Callable[[Progress], None] | None = None, *, wait_seconds: float = 10.0
    ) -> IndexReport | None:
        """Bring the index up to date; what that took, or None if nothing had changed."""
        return self._keeper.index(progress, wait_seconds=wait_seconds)

    def mend_index(self) -> None:
        """Put the index aside, which is damaged, and build another."""
        self._keeper.rebuild()
        self._keeper.index()

    def begin_index(self) -> Progress | None:
        """Have the index brought up to date beside us; how far it is, None if it is up to date.

        What takes a moment is done at once. What takes longer is done by a process that ends with us;
        until then the index answers from what it has.
        """
        return self._keeper.begin()

    def wait_index(self, seconds: float) -> Progress | None:
        """Wait no longer than this for what was begun; how far it is, None if it is up to date."""
        return self._keeper.wait(seconds)

    def prepare(self, session_id: str, progress: Callable[[Progress], None] | None = None) -> None:
        """Index what it takes to open one session, whose file has its id in the name."""
        self._keeper.prepare(session_id, progress)

    def is_final(
        self, listed: Sequence[SavedSession], *, limit: int | None, since: float | None = None
    ) -> bool:
        """Whether nothing that is still to be indexed can change a list, as the files' times say."""
        left = self._keeper.newest_left()
        if not self._keeper.found_paths().issuperset(each.path for each in listed):
            return False  # one of them was moved or removed
        if left is None or (since is not None and left < since):
            return True
        return limit is not None and len(listed) == limit and listed[-1].last_at > left

    def mark(self) -> object:
        """Equal to an earlier one if nothing was written to the index since, by anybody."""
        return self._database, self._database.mark()

    def index_check(self) -> IndexCheck:
        """What says of a file how the index is out of step with it. The index is taken as it is."""
        from dragoman.archive.care.index import IndexCheck

        return IndexCheck(self._files, self.index_folder, self.folders)

    def sessions(
        self,
        *,
        project: str | os.PathLike[str] | None = None,
        since: float | None = None,
        until: float | None = None,
        harness: str | None = None,
        archived: bool | None = None,
        top: bool = False,
        without: Collection[str] = (),
        limit: int | None = None,
    ) -> list[SavedSession]:
        """The sessions in the index, the newest first; with ``top`` only those a user began.

        Those whose ids are in ``without`` are left out.

        Times are seconds since 1970. ``project`` is a folder, with all below it, or its last name.
        """
        listed = self._sessions.list(
            project=_project(project),
            since=since,
            until=until,
            harness=harness,
            archived=archived,
            top=top,
            without=without,
            limit=limit,
        )
        return [SavedSession(each, self._files, self._sessions) for each in listed]

    def has(self, session_id: str, *, exactly: bool = False) -> bool:
        """Whether a session with this id, one that starts with it, or this name is in the index."""
        if exactly:
            matching = self._sessions.matching(session_id) if session_id else []
            return any(each.row.session_id == session_id for each in matching)
        return bool(self._called(session_id))

    def get(self, session_id: str) -> SavedSession:
        """The session with this id, the only one whose id starts with it, or the only one with this name."""
        found = self._called(session_id)
        if not found:
            raise UsageError(
                f"there is no session {session_id!r} in {', '.join(self.folders)}; "
                "`dragoman sessions` lists them"
            )
        if len(found) > 1:
            some = ", ".join(each.row.session_id for each in found[:4])
            more = f" and {len(found) - 4} more" if len(found) > 4 else ""
            raise UsageError(f"{session_id!r} matches {len(found)} sessions: {some}{more}")
        return SavedSession(found[0], self._files, self._sessions)

    def _called(self, name: str) -> list[ListedSession]:
        """An id wins over what starts with it, and both over a name."""
        matching = self._sessions.matching(name) if name else []
        exact = [each for each in matching if each.row.session_id == name]
        return exact or matching or (self._sessions.titled(name) if name.strip() else [])

    def last(self, *, project: str | os.PathLike[str] | None = None) -> SavedSession:
        """The session in which something was said last."""
        newest = self.sessions(project=project, top=True, limit=1)
        if not newest:
            where = f" for {os.fspath(project)}" if project else ""
            raise UsageError(f"there are no sessions{where} in {', '.join(self.folders)}")
        return newest[0]

    def search(self, query: str, filters: Filters | None = None, *, limit: int = 20) -> Results:
        """The messages that match a query (see :mod:`dragoman.store.queries`), best first."""
        from dragoman.archive.search import searching

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
        from dragoman.archive.search import searching

        return searching.scan(self._database, text, _placed(filters), limit, ignore_case)

    def around(self, match: SearchMatch, reach: int = 2) -> list[SearchHit]:
        """A match and its neighbours in the session."""
        from dragoman.archive.search import searching

        return searching.around(self._database, match, reach)

    def tail(self, session_id: str | None = None) -> Iterator[list[FollowedMessage]]:
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
) -> SessionArchive:
    """The saved sessions of this user, with an index that is up to date.

    >>> for session in dragoman.archive().sessions(limit=10):  # doctest: +SKIP
    ...     print(session.title, session.tokens)
    """
    opened = SessionArchive(home=home, paths=paths, cache=cache)
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
