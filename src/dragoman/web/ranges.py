"""Ranges of a session for the page: entries of this server, and above them earlier ones.

A resumed session has earlier entries in its file; a fork has those of its parent. They are numbered
backwards from -1, so that the numbers of new entries, from 1 on, do not depend on them.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict, deque
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from dragoman.archive.api import SessionArchive
from dragoman.archive.ranges import message_range
from dragoman.errors import UnreadableSource, UsageError
from dragoman.hub.hub import Entry, UnknownSession
from dragoman.model.messages import TurnStarted
from dragoman.web.api.shapes import SessionInfo
from dragoman.web.archive_worker import SavedEntry
from dragoman.web.page.fragments import fragments
from dragoman.web.page.rows import Fragment
from dragoman.web.service import SessionService

_log = logging.getLogger(__name__)
_KEPT: Final = 8
_MOST: Final = 20_000
"""The most earlier entries of a session that are shown …"""
_LARGE: Final = 100_000_000
_MOST_OF_LARGE: Final = 2_000
"""… and the most for a file with more than this many bytes."""
_END: Final = 1 << 53
_PAGE: Final = 1_000
_DEPTH: Final = 16
"""The most forks to follow back to the first session."""


class Said(NamedTuple):
    """An entry, with the session id that its messages carry."""

    name: str
    entry: Entry | SavedEntry


EntryRange: TypeAlias = Sequence[Said]


def drawn(found: EntryRange) -> list[Fragment]:
    """Each entry as an HTML fragment."""
    pieces: list[Fragment] = []
    for name, said in groupby(found, key=lambda each: each.name):
        pieces += fragments([each.entry for each in said], name)
    return pieces


class SessionRanges:
    """Reads ranges. Earlier entries never change, so they are cached while the user may scroll."""

    def __init__(self, service: SessionService) -> None:
        self._service = service
        self._earlier: OrderedDict[str, list[Said]] = OrderedDict()

    async def before(self, session: SessionInfo, seq: int, limit: int) -> EntryRange:
        """The last entries before this number, oldest first."""
        found: EntryRange = []
        if seq > 0:
            own = await self._service.entries(session.id, before=seq, limit=limit)
            found = await self._named(session, own)
        if len(found) == limit:
            return found
        earlier = await self.earlier(session)
        end = len(earlier) if seq > 0 else max(0, len(earlier) + seq)
        return [*earlier[max(0, end - limit + len(found)) : end], *found]

    async def after(self, session: SessionInfo, seq: int, limit: int) -> EntryRange:
        """The entries after this number."""
        found: EntryRange = []
        if seq < -1:
            earlier = await self.earlier(session)
            found = earlier[max(0, len(earlier) + seq + 1) :][:limit]
        rest = limit - len(found)
        if not rest:
            return found
        own = await self._service.entries(session.id, after=max(0, seq), limit=rest)
        return [*found, *await self._named(session, own)]

    async def earlier(self, session: SessionInfo) -> EntryRange:
        """The entries from before this server opened the session."""
        if not session.is_live:
            return ()
        found = self._earlier.get(session.id)
        if found is None:
            told = await self._told_before(session, session.created_at, _DEPTH)
            found = [
                Said(name, SavedEntry(number - len(told), entry.at, entry.message))
                for number, (name, entry) in enumerate(told)
            ]
            if not found:  # or the index does not contain its file yet
                return found
            self._earlier[session.id] = found
        self._earlier.move_to_end(session.id)
        if len(self._earlier) > _KEPT:
            self._earlier.popitem(last=False)
        return found

    async def _told_before(
        self, session: SessionInfo, until: datetime | None, depth: int
    ) -> EntryRange:
        if until is None:
            return []
        origin = await self._origin(session) if depth else None
        if origin is not None:
            parent, seq = origin
            if parent.is_live and parent.created_at is not None:
                until = min(until, parent.created_at)
            told = deque(await self._told_before(parent, until, depth - 1), maxlen=_MOST)
            after = 0
            while after < seq and (
                page := self._service.hub.entries(parent.id, after=after, limit=_PAGE)
            ):
                told.extend(await self._named(parent, [each for each in page if each.seq <= seq]))
                after = page[-1].seq
            return list(told)
        name = session.native_id or session.id
        saved = await self._service.archive_worker.ask(
            lambda archive: _saved_before(archive, name, until)
        )
        return await self._named(session, saved)

    async def _origin(self, session: SessionInfo) -> tuple[SessionInfo, int] | None:
        """The live session from which this one was forked, and the place of the fork."""
        known = self._service.live(session.id)
        if known is None or known.parent_seq is None or known.parent is None:
            return None
        try:
            parent = await self._service.session(known.parent)
        except UnknownSession:
            return None
        return parent, known.parent_seq if parent.is_live else 0

    async def _named(
        self, session: SessionInfo, entries: Sequence[Entry] | Sequence[SavedEntry]
    ) -> list[Said]:
        """Attribute inherited entries of a fork to their original sessions.

        Any other session id in the entries belongs to a sub-agent.
        """
        name = session.native_id or session.id
        others = {each.message.session_id or name for each in entries} - {name}
        before = await self._ancestors(session) & others if others else others
        return [
            Said(other if (other := each.message.session_id or name) in before else name, each)
            for each in entries
        ]

    async def _ancestors(self, session: SessionInfo) -> set[str]:
        found: set[str] = set()
        while session.parent_id and session.parent_id not in found and len(found) < _DEPTH:
            found.add(session.parent_id)
            try:
                session = await self._service.session(session.parent_id)
            except UnknownSession:
                break
        return found


def _saved_before(archive: SessionArchive, session_id: str, until: datetime) -> list[SavedEntry]:
    """The number of messages in the session's file at that time; None for a new session."""
    told: list[SavedEntry] = []
    has_turns = False
    try:
        session = archive.get(session_id)
        if session.id != session_id:
            return []
        most = _MOST if os.stat(session.path).st_size <= _LARGE else _MOST_OF_LARGE
        for number, message in message_range(session, before=_END, limit=most):
            if message.at is not None and message.at >= until:
                break
            has_turns = has_turns or isinstance(message, TurnStarted) or number > most
            told.append(SavedEntry(0, message.at, message))
    except (UsageError, UnreadableSource, OSError) as problem:
        # Not indexed yet, or moved meanwhile: show at least the entries of this server.
        _log.info("cannot read the earlier entries of session %s: %s", session_id, problem)
        return []
    return told if has_turns else []
