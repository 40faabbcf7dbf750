"""Adds saved sessions to the stream of all sessions, so that work in a terminal shows up too.

While that stream has readers, the newest saved sessions are compared from time to time with what was
sent about them. Only the newest are tracked, and they are listed only if the index has changed, which is
cheap to check.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from dragoman.archive.api import SessionArchive
from dragoman.errors import DragomanError
from dragoman.hub.hub import Hub
from dragoman.web.api import shapes
from dragoman.web.api.shapes import NewestSaved, SavedGone, SessionInfo
from dragoman.web.archive_worker import ArchiveWorker
from dragoman.web.streams.broadcasting import ListChannel

NEWEST: Final = 50
"""The number of tracked sessions: as many as the sidebar shows at first."""
_LOOK_SECONDS: Final = 1.0
_log = logging.getLogger(__name__)


class _Look(NamedTuple):
    mark: object
    """The state of the index and of the hub. While it is unchanged, there is nothing new."""
    newest: dict[str, SessionInfo]
    are_all: bool
    left: list[SessionInfo | SavedGone]
    """Previously listed sessions that were archived or deleted."""


class SavedList:
    """``async with SavedList(hub, archive_worker, channel).open()``: sends saved sessions to ``channel``."""

    def __init__(
        self,
        hub: Hub,
        worker: ArchiveWorker,
        channel: ListChannel,
        *,
        seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._hub = hub
        self._worker = worker
        self._channel = channel
        self._seconds = seconds
        self._known: _Look | None = None
        self._problem = ""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self._follow())
            try:
                yield
            finally:
                task.cancel()

    async def _follow(self) -> None:
        while True:
            await self._channel.is_read.wait()
            try:
                await self._look()
                self._problem = ""
            except (DragomanError, OSError) as problem:
                if str(problem) != self._problem:  # warn once, not every time
                    self._problem = str(problem)
                    _log.warning("cannot follow saved sessions: %s", problem)
            await asyncio.sleep(self._seconds)
            if not self._channel.is_read.is_set():
                self._known = None
                self._channel.saved = None

    async def _look(self) -> None:
        known, twins = self._known, self._twins()
        found = await self._worker.ask(
            # An incomplete index lists too few sessions, which must not count as deleted.
            lambda archive: None if self._worker.indexing else _look(archive, twins, known)
        )
        if found is None:
            return
        # Some may have become live meanwhile, and were already sent as such.
        for name in found.newest.keys() & self._twins().keys():
            del found.newest[name]
        self._known = found
        newest = list(found.newest.values())
        self._channel.saved = NewestSaved(newest, found.are_all)
        if known is None:
            self._channel.say("saved_sessions", self._channel.saved)
            return
        for each in found.left:
            self._channel.say(
                "saved_gone" if isinstance(each, SavedGone) else "saved_session", each
            )
        for each in reversed(newest):
            if known.newest.get(each.id) != each:
                self._channel.say("saved_session", each)

    def _twins(self) -> dict[str, str]:
        """The sessions that the hub reports itself: all their ids, and the hub's own ids."""
        here = self._hub.sessions()
        return {name: each.id for each in here for name in (each.native_id, each.id)}


def _look(archive: SessionArchive, twins: dict[str, str], known: _Look | None) -> _Look | None:
    """The current state; None if it is unchanged."""
    mark = archive.mark(), hash(frozenset(twins))
    if known is not None and mark == known.mark and not _works(known.newest.values()):
        return None
    listed = archive.sessions(top=True, archived=False, without=twins, limit=NEWEST)
    newest = {each.id: shapes.saved(each) for each in listed}
    before = known.newest if known is not None else {}
    left = [_left(archive, name, twins) for name in before.keys() - newest.keys()]
    told = [each for each in left if each is not None]
    return _Look(mark, newest, len(listed) < NEWEST, told)


def _works(sessions: Iterable[SessionInfo]) -> bool:
    """Whether one is working: that it has stopped may show only by the passing of time."""
    return any(each.state == "working" or each.running_elsewhere for each in sessions)


def _left(
    archive: SessionArchive, session_id: str, twins: dict[str, str]
) -> SessionInfo | SavedGone | None:
    """Why a session left the list; None if newer ones displaced it, or the hub reports it."""
    if session_id in twins:
        return SavedGone(session_id) if twins[session_id] != session_id else None
    if not archive.has(session_id, exactly=True):
        return SavedGone(session_id)
    session = archive.get(session_id)
    return shapes.saved(session) if session.archived else None
