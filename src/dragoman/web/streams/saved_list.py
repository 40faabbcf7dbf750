"""Saved sessions in the stream of all sessions: what somebody does in a terminal is seen, too.

While somebody reads that stream, and only then, the newest saved sessions are compared with what was told of them, now
and then. Only those are kept, however many there are; and they are listed only if something was written to the index
since, which costs next to nothing to ask.
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
"""How many are looked after: as many as stand beside the page at first."""
_LOOK_SECONDS: Final = 1.0
_log = logging.getLogger(__name__)


class _Look(NamedTuple):
    mark: object
    """Of the index and the hub's sessions. As long as it stays the same there is nothing new."""
    newest: dict[str, SessionInfo]
    are_all: bool
    left: list[SessionInfo | SavedGone]
    """Those that were among the newest before, if they were archived or are no longer there."""


class SavedList:
    """``async with SavedList(hub, archive_worker, channel).open()``: tells ``channel`` of saved sessions."""

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
                if str(problem) != self._problem:  # with every look would be too often
                    self._problem = str(problem)
                    _log.warning("saved sessions cannot be followed now: %s", problem)
            await asyncio.sleep(self._seconds)
            if not self._channel.is_read.is_set():
                self._known = None
                self._channel.saved = None

    async def _look(self) -> None:
        known, twins = self._known, self._twins()
        found = await self._worker.ask(
            # An index that is being built has less than there is.
            lambda archive: None if self._worker.indexing else _look(archive, twins, known)
        )
        if found is None:
            return
        # Some of them may have become live while we looked, and have been told of as such.
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
        """What the hub has itself, and tells of itself: the names of each session, and the hub's own."""
        here = self._hub.sessions()
        return {name: each.id for each in here for name in (each.native_id, each.id)}


def _look(archive: SessionArchive, twins: dict[str, str], known: _Look | None) -> _Look | None:
    """What is there now; None if it is what was there before."""
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
    """Whether one of them is at work: that it has stopped may be told by the clock alone."""
    return any(each.state == "working" or each.running_elsewhere for each in sessions)


def _left(
    archive: SessionArchive, session_id: str, twins: dict[str, str]
) -> SessionInfo | SavedGone | None:
    """Why a session is no longer among the newest; None if there are newer ones, or the hub tells of it."""
    if session_id in twins:
        return SavedGone(session_id) if twins[session_id] != session_id else None
    if not archive.has(session_id, exactly=True):
        return SavedGone(session_id)
    session = archive.get(session_id)
    return shapes.saved(session) if session.archived else None
