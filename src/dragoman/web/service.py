"""The service behind all handlers: looks up live and saved sessions, and acts on either kind."""

from __future__ import annotations

import base64
import binascii
import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from litestar.di import NamedDependency

from dragoman.archive.index.digest import title_in
from dragoman.errors import ProtocolError, UsageError
from dragoman.hub.hub import Entry, HarnessInfo, Hub, LiveSession, SessionArchived, UnknownSession
from dragoman.web.api import shapes
from dragoman.web.api.shapes import SessionInfo
from dragoman.web.archive_worker import ArchiveWorker, SavedEntry
from dragoman.web.settings import Settings
from dragoman.web.streams.broadcasting import Broadcasts

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive
    from dragoman.archive.handoff.handing_off import Handoff
    from dragoman.store.files import TurnRow

_TIES: Final = 64
"""The most sessions that may share one time of last activity without breaking a page of the list."""
EntryRange = Sequence[Entry] | Sequence[SavedEntry]


class SessionService:
    def __init__(self, hub: Hub, archive_worker: ArchiveWorker, settings: Settings) -> None:
        self.hub = hub
        self.archive_worker = archive_worker
        self.settings = settings
        self.broadcasts = Broadcasts(hub, settings)

    def live(self, session_id: str) -> LiveSession | None:
        """A live session, by its id or by the agent's id for it."""
        try:
            return self.hub.get(session_id)
        except UnknownSession:
            named = (each for each in self.hub.sessions() if each.native_id == session_id)
            return next(named, None)

    def spoken_to(self, session_id: str) -> str:
        """The hub's id of a live session. Raises UnknownSession."""
        found = self.live(session_id)
        if found is None:
            raise UnknownSession(session_id)
        return found.id

    def images(self, given: Sequence[str]) -> list[str]:
        """Images that the agent may get. Files outside the roots are refused."""
        far = ("data:", "https://", "http://")
        return [each if each.startswith(far) else self.hub.allowed(each) for each in given]

    async def session(self, session_id: str) -> SessionInfo:
        """A session by its full id. Raises UnknownSession."""
        found = self.live(session_id)
        if found is not None:
            return shapes.live(found)

        def look(archive: SessionArchive) -> SessionInfo:
            try:
                session = archive.get(session_id)
            except UsageError:
                raise UnknownSession(session_id) from None
            if session.id != session_id:
                raise UnknownSession(session_id)
            return shapes.saved(session)

        return await self.archive_worker.ask(look)

    async def rename(self, session_id: str, title: str) -> SessionInfo:
        live = self.live(session_id)
        if live is not None:
            await self.hub.rename(live.id, title)
            return await self.session(live.id)
        found = await self._on_disk(session_id)
        if found.archived:
            raise SessionArchived(session_id)
        await self.hub.saved.rename(session_id, title, harness=found.harness)
        return await self._changed(session_id, title=title_in(title) or title)

    async def archive(self, session_id: str, *, archived: bool) -> SessionInfo:
        live = self.live(session_id)
        if live is not None:
            await self.hub.archive(live.id, archived=archived)
            return await self.session(live.id)
        found = await self._on_disk(session_id)
        if found.archived != archived:
            await self.hub.saved.archive(session_id, archived=archived, harness=found.harness)
        return await self._changed(session_id, archived=archived)

    async def fork(self, session_id: str) -> SessionInfo:
        found = self.live(session_id)
        if found is not None:
            return shapes.live(await self.hub.fork(found.id))
        saved = await self._on_disk(session_id)
        if saved.archived:
            raise SessionArchived(session_id)
        if saved.cwd is None:
            raise ProtocolError(f"session {session_id} has no known working directory")
        branch = await self.hub.saved.fork(
            session_id, cwd=saved.cwd, title=saved.title, harness=saved.harness
        )
        return shapes.live(branch)

    async def hand_off(
        self, session_id: str, *, to: str, turns: str | None, cwd: str | None
    ) -> Handoff:
        """Write a session as a saved one of another agent. Raises UnknownSession, UsageError and Forbidden."""
        found = await self.session(session_id)
        given = cwd if cwd is not None else found.cwd
        if given is None:
            raise UsageError(f"session {session_id} has no known working directory: give `cwd`")
        directory = self.hub.allowed(given)
        native = found.native_id or found.id
        self.archive_worker.look_again()

        def write(archive: SessionArchive) -> Handoff:
            if not archive.has(native, exactly=True):
                raise UnknownSession(session_id)
            return archive.hand_off(native, to=to, turns=turns, cwd=directory)

        done = await self.archive_worker.ask(write)
        self.archive_worker.look_again()
        return done

    async def stop(self, session_id: str, *, keep_commands: bool = False) -> None:
        """Stop a live session. A saved one needs no stop, unless another program runs it."""
        found = self.live(session_id)
        if found is not None:
            await self.hub.stop(found.id, keep_commands=keep_commands)
        elif (await self.session(session_id)).running_elsewhere:
            raise ProtocolError(
                f"session {session_id} runs in another program: stop it there, or fork it"
            )

    def drives(self, session: SessionInfo) -> bool:
        """Whether this server can run the session's agent."""
        return self.harness_of(session) is not None

    def harness_of(self, session: SessionInfo) -> HarnessInfo | None:
        """The session's agent, if this server can run it."""
        found = (each for each in self.hub.harnesses() if each.name == session.harness)
        return next(found, None)

    def harness(self, name: str) -> HarnessInfo:
        """An agent by name. Raises UsageError with the known names."""
        known = self.hub.harnesses()
        for each in known:
            if each.name == name:
                return each
        names = ", ".join(each.name for each in known)
        raise UsageError(f"unknown agent {name!r}; this server runs {names}")

    async def harness_for(self, name: str | None, resume: str | None) -> str | None:
        """The agent for a new session: the named one, otherwise that of the session to resume."""
        if name is not None:
            return self.harness(name).name
        if not resume:
            return None
        try:
            found = await self.session(resume)
        except UnknownSession:
            return None
        return found.harness if self.drives(found) else None

    async def _on_disk(self, session_id: str) -> SessionInfo:
        """The current state of a saved session whose agent this server can run."""
        self.archive_worker.look_again()
        found = await self.session(session_id)
        if not self.drives(found):
            whose = f"of {found.harness}" if found.harness else "of an unknown agent"
            driven = ", ".join(each.name for each in self.hub.harnesses())
            raise ProtocolError(f"session {session_id} is {whose}; this server runs {driven}")
        return found

    async def _changed(self, session_id: str, **facts: Any) -> SessionInfo:
        """A saved session after a change that the index may not contain yet."""
        self.archive_worker.look_again()
        return msgspec.structs.replace(await self.session(session_id), **facts)

    async def taken_up(self, session_id: str | None) -> str | None:
        """The title of a session that is about to be resumed, if known.

        An archived session is unarchived first, because agents do not resume archived ones.
        """
        if not session_id:
            return None
        try:
            found = await self.session(session_id)
        except UnknownSession:
            return None
        if found.archived and not found.is_live:
            await self.hub.saved.archive(found.id, archived=False, harness=found.harness)
            self.archive_worker.look_again()
        return found.title

    async def entries(
        self, session_id: str, *, after: int = 0, before: int | None = None, limit: int
    ) -> EntryRange:
        """A range of a session, oldest first: the entries after ``after``, or the last ones before ``before``."""
        found = self.live(session_id)
        if found is not None:
            if before is not None:
                return self.hub.before(found.id, seq=before, limit=limit)
            return self.hub.entries(found.id, after=after, limit=limit)
        await self.session(session_id)
        return await self.archive_worker.entries(
            session_id, after=after, before=before, limit=limit
        )

    async def turns(self, session_id: str) -> list[TurnRow] | None:
        """The turns of a saved session, if the index has them."""
        return await self.archive_worker.ask(lambda archive: archive.get(session_id).turn_list())

    async def sessions(
        self,
        *,
        limit: int,
        cursor: str | None = None,
        live: bool | None = None,
        archived: bool | None = None,
        project: str | None = None,
    ) -> tuple[list[SessionInfo], str | None]:
        """A page of all sessions, newest first, and the cursor of the next page."""
        place = _read_cursor(cursor)
        here = self.hub.sessions()
        found: list[SessionInfo] = []
        if live is not False:
            wanted = [each for each in here if _is_wanted(each, archived, project)]
            behind = [each for each in wanted if place is None or _order(each) > _begin(place)]
            # There may be very many, so keep only those that can be on this page.
            found += map(shapes.live, heapq.nsmallest(limit + 1, behind, key=_order))
        if live is not True:
            twins = {name for each in here for name in (each.id, each.native_id)}

            def look(archive: SessionArchive) -> list[SessionInfo]:
                until = place[0] + 0.001 if place is not None else None
                listed = archive.sessions(
                    project=project,
                    until=until,
                    archived=archived,
                    top=True,
                    without=twins,
                    limit=limit + _TIES,
                )
                return [shapes.saved(each) for each in listed]

            found += await self.archive_worker.ask(look)
        found.sort(key=_order)
        rest = [each for each in found if place is None or _order(each) > _begin(place)]
        page = rest[:limit]
        return page, _cursor(page[-1]) if len(rest) > limit else None


TheService: TypeAlias = NamedDependency[SessionService]
"""The service, injected into handlers."""


def _is_wanted(session: LiveSession, archived: bool | None, project: str | None) -> bool:
    if archived is not None and session.archived != archived:
        return False
    cwd = session.cwd
    return project is None or cwd == project or cwd.startswith(project.rstrip("/") + "/")


def _place(session: SessionInfo | LiveSession) -> tuple[float, str]:
    return session.updated_at.timestamp() if session.updated_at else 0.0, session.id


def _order(session: SessionInfo | LiveSession) -> tuple[float, str]:
    return _begin(_place(session))


def _begin(place: tuple[float, str]) -> tuple[float, str]:
    """The sort key for newest first."""
    at, name = place
    return -at, name


def _cursor(session: SessionInfo) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(_place(session))).decode().rstrip("=")


def _read_cursor(cursor: str | None) -> tuple[float, str] | None:
    if not cursor:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=tuple[float, str])
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        raise UsageError("invalid cursor") from None
