"""``dragoman.archive()``: list, open, search and follow every saved session of this user.

Modules that only some methods need are imported there, so that listing unchanged sessions is fast.
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
    from dragoman.archive.handoff.handing_off import Handoff
    from dragoman.archive.index.updating import IndexReport, Progress
    from dragoman.archive.search.searching import Results, SearchHit
    from dragoman.store.database import Database
    from dragoman.store.files import Files
    from dragoman.store.search import Filters, SearchMatch


class SessionArchive:
    """The saved sessions in some homes, or in given files, and their index."""

    def __init__(
        self,
        *,
        home: str | os.PathLike[str] | None = None,
        paths: Sequence[str | os.PathLike[str]] = (),
        cache: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``home`` replaces the home of every harness; with ``paths``, only these files are used."""
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
        """What had to be done about the index, as a sentence, or None."""
        return self._keeper.note

    def troubles(self) -> list[str]:
        """Return the problems with the index as sentences, each of them once."""
        return self._keeper.troubles()

    def close(self) -> None:
        """Close the index. An update in progress stops; the next one continues it."""
        self._keeper.close()

    def __enter__(self) -> SessionArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def place(self) -> ArchivePlace:
        """Where sessions and the index are located."""
        return self._keeper.place

    @property
    def folders(self) -> list[str]:
        """The folders that are searched for sessions."""
        return self._keeper.place.folders

    @property
    def index_folder(self) -> str:
        """The folder of the index."""
        return self._keeper.place.index_folder

    def find(self) -> list[FoundFile]:
        """Return the session files that exist now."""
        return self._keeper.place.find()

    def index(
        self, progress: Callable[[Progress], None] | None = None, *, wait_seconds: float = 10.0
    ) -> IndexReport | None:
        """Update the index. Return what was done, or None if nothing had changed."""
        return self._keeper.index(progress, wait_seconds=wait_seconds)

    def mend_index(self) -> None:
        """Move a damaged index aside and build a new one."""
        self._keeper.rebuild()
        self._keeper.index()

    def begin_index(self) -> Progress | None:
        """Update the index in the background. Return the progress, or None if it is up to date.

        Short updates are done immediately. Longer ones run in a process that ends with this one;
        until it is done, queries use what is already indexed.
        """
        return self._keeper.begin()

    def wait_index(self, seconds: float) -> Progress | None:
        """Wait up to ``seconds`` for the update. Return the progress, or None if the index is up to date."""
        return self._keeper.wait(seconds)

    def prepare(self, session_id: str, progress: Callable[[Progress], None] | None = None) -> None:
        """Index only what is needed to open one session whose file has its id in the name."""
        self._keeper.prepare(session_id, progress)

    def is_final(
        self, listed: Sequence[SavedSession], *, limit: int | None, since: float | None = None
    ) -> bool:
        """Whether files still to be indexed cannot change this list, judging by their modification times."""
        left = self._keeper.newest_left()
        if not self._keeper.found_paths().issuperset(each.path for each in listed):
            return False  # a listed file was moved or removed
        if left is None or (since is not None and left < since):
            return True
        return limit is not None and len(listed) == limit and listed[-1].last_at > left

    def mark(self) -> object:
        """Return a value that stays equal as long as no process writes to the index."""
        return self._database, self._database.mark()

    def index_check(self) -> IndexCheck:
        """Return a check of how files differ from the index. The index is not updated first."""
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
        """Return the sessions in the index, newest first; with ``top``, only those a user started.

        Sessions whose ids are in ``without`` are left out. Times are in seconds since 1970.
        ``project`` is a folder, including everything below it, or its last name.
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
        """Whether the index has a session with this id, id prefix or name."""
        if exactly:
            matching = self._sessions.matching(session_id) if session_id else []
            return any(each.row.session_id == session_id for each in matching)
        return bool(self._called(session_id))

    def get(self, session_id: str) -> SavedSession:
        """Return the session with this id, or the only one with this id prefix or name."""
        found = self._called(session_id)
        if not found:
            raise UsageError(
                f"no session {session_id!r} in {', '.join(self.place.existing_folders)}; "
                "run `dragoman sessions` to list them"
            )
        if len(found) > 1:
            some = ", ".join(each.row.session_id for each in found[:4])
            more = f" and {len(found) - 4} more" if len(found) > 4 else ""
            raise UsageError(f"{session_id!r} matches {len(found)} sessions: {some}{more}")
        return SavedSession(found[0], self._files, self._sessions)

    def _called(self, name: str) -> list[ListedSession]:
        """Find sessions by name. A full id takes precedence over a prefix, and both over a title."""
        matching = self._sessions.matching(name) if name else []
        exact = [each for each in matching if each.row.session_id == name]
        return exact or matching or (self._sessions.titled(name) if name.strip() else [])

    def last(self, *, project: str | os.PathLike[str] | None = None) -> SavedSession:
        """Return the session with the newest message."""
        newest = self.sessions(project=project, top=True, limit=1)
        if not newest:
            where = f" for {os.fspath(project)}" if project else ""
            raise UsageError(f"no sessions{where} in {', '.join(self.place.existing_folders)}")
        return newest[0]

    def hand_off(
        self,
        session: str | SavedSession,
        *,
        to: str,
        turns: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
    ) -> Handoff:
        """Write a session's conversation as a new native session of the harness ``to`` (see docs/handoff.md).

        ``turns`` selects some of its turns, such as ``3..``. ``cwd`` is the directory of the new session; by
        default, that of the old one. ``home`` replaces the home of the agent.
        """
        from dragoman.archive.handoff.handing_off import hand_off

        source = self.get(session) if isinstance(session, str) else session
        return hand_off(source, self.place, to=to, turns=turns, cwd=cwd, home=home)

    def search(self, query: str, filters: Filters | None = None, *, limit: int = 20) -> Results:
        """Return the messages that match a query (see :mod:`dragoman.store.queries`), best first."""
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
        """Return the messages that contain exactly this text, by reading every file, newest first."""
        from dragoman.archive.search import searching

        return searching.scan(self._database, text, _placed(filters), limit, ignore_case)

    def around(self, match: SearchMatch, reach: int = 2) -> list[SearchHit]:
        """Return a match and its neighbours in the session."""
        from dragoman.archive.search import searching

        return searching.around(self._database, match, reach)

    def tail(
        self, session_id: str | None = None, *, harness: str | None = None
    ) -> Iterator[list[FollowedMessage]]:
        """Yield messages as they are written from now on. Never ends.

        ``session_id`` and ``harness`` limit them to one session, or to the sessions of one harness.

        Yields an empty list about twice a second while there is nothing new.
        """
        from dragoman.archive.following import follow

        only = self.get(session_id).path if session_id is not None else None

        def find() -> list[FoundFile]:
            return [each for each in self.find() if harness is None or each.harness == harness]

        return follow(find, only=only)


def archive(
    *,
    home: str | os.PathLike[str] | None = None,
    paths: Sequence[str | os.PathLike[str]] = (),
    cache: str | os.PathLike[str] | None = None,
    index: bool = True,
) -> SessionArchive:
    """Open the saved sessions of this user, with an up-to-date index.

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
