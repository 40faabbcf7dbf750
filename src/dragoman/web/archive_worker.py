"""The archive for a server: in a thread of its own, since its database must not change hands.

The index is looked after in that thread, too, at most every few seconds, and brought up to date by a process
beside us: whatever is asked is answered from what is there. Small sessions that were opened last are kept, so that
a page that asks for one stretch after another does not read the file each time; of large ones only the stretch is read.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from typing import Final, NamedTuple, TypeVar

import msgspec

from dragoman.archive.api import SessionArchive
from dragoman.archive.index.updating import Progress
from dragoman.archive.ledger.counting import CountingProcess, UsageQuery
from dragoman.archive.ledger.groups import By, Summary
from dragoman.archive.ledger.ledger import LedgerFilter
from dragoman.archive.numbering import Numbered, NumberedFile
from dragoman.archive.ranges import message_range
from dragoman.archive.saved import SavedSession
from dragoman.errors import UnreadableSource
from dragoman.model.messages import Message
from dragoman.model.secrets import secrets_in
from dragoman.reading.mapper import make_exporter
from dragoman.store.database import SUSPECT

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_FRESH_SECONDS: Final = 3.0
_BATCH: Final = 200
_KEPT: Final = 4
_LARGE: Final = 4_000_000
"""How many bytes of a session are read whole for a stretch of it."""
_MOST_KEPT: Final = 60_000
"""How many messages are kept, of all sessions together."""


class SavedEntry(msgspec.Struct, frozen=True):
    """A message of a saved session with its place in it, from 1."""

    seq: int
    at: datetime | None
    message: Message


class _Kept(NamedTuple):
    """A session whose entries are kept."""

    path: str
    file: NumberedFile
    entries: list[SavedEntry]


class ArchiveWorker:
    """``ArchiveWorker(lambda: Archive())``: the archive is opened when it is first needed."""

    def __init__(self, open_archive: Callable[[], SessionArchive]) -> None:
        self._open = open_archive
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="archive-worker")
        self._archive: SessionArchive | None = None
        self._fresh_until = 0.0
        self._counting = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self.indexing: Progress | None = None
        """How far the index is; None if it is up to date."""
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._told: set[str] = set()
        self._beside = CountingProcess()
        self._counted: dict[UsageQuery, tuple[float, Summary]] = {}

    async def ask(self, work: Callable[[SessionArchive], _T]) -> _T:
        """What ``work`` finds in the archive."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: self._asked(work))

    def look_again(self) -> None:
        """Something on the disk is known to have changed: whoever asks next is told what is new."""
        self._fresh_until = 0.0

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)
        self._counting.shutdown(wait=False, cancel_futures=True)
        self._beside.end()

    async def entries(
        self, session_id: str, *, after: int = 0, before: int | None = None, limit: int
    ) -> list[SavedEntry]:
        """A stretch of a saved session: what follows ``after``, or the last of what is before ``before``."""

        def look(archive: SessionArchive) -> list[SavedEntry]:
            session = archive.get(session_id)
            if not os.path.exists(session.path):
                self.look_again()  # it was moved or compressed since
                session = self._ready().get(session_id)
            if _size(session.path) > _LARGE:
                found = message_range(session, after=after, before=before, limit=limit)
                return [SavedEntry(seq, each.at, each) for seq, each in found]
            every = self._entries(session)
            if before is not None:
                end = min(len(every), max(0, before - 1))
                return every[max(0, end - limit) : end]
            return every[after : after + limit]

        return await self.ask(look)

    async def follow(self, session_id: str, after: int) -> Followed:
        """A saved session from a number on, as its file grows."""
        followed = await self.ask(lambda archive: archive.get(session_id).follow(after + 1))
        return Followed(self, followed, after)

    def let_go(self, followed: NumberedFile) -> None:
        """Nobody follows it any more."""
        with suppress(RuntimeError):  # the thread is gone, and all files with it
            self._thread.submit(followed.close)

    async def export(self, session_id: str, to: str) -> AsyncGenerator[bytes]:
        """A saved session in another format, piece by piece."""
        loop = asyncio.get_running_loop()

        def begin(archive: SessionArchive) -> Iterator[bytes]:
            return _exported(archive.get(session_id).messages(), to)

        pieces = await self.ask(begin)
        while (piece := await loop.run_in_executor(self._thread, next, pieces, None)) is not None:
            yield piece

    async def usage(self, by: By, choice: LedgerFilter) -> Summary:
        """Tokens and money of all saved sessions."""
        [found] = await self.usages([by], choice)
        return found

    async def usages(self, every: Sequence[By], choice: LedgerFilter) -> list[Summary]:
        """The same in several ways, counted once."""
        archive = await self.ask(lambda archive: archive)
        questions = [UsageQuery(by, choice) for by in every]

        def answer() -> list[Summary]:
            # In hand until it is told: it may be forgotten while the rest is counted.
            known = self._fresh()
            new = [question for question in questions if question not in known]
            answers = self._beside.count(archive.place, new) if new else ()
            until = time.monotonic() + _FRESH_SECONDS
            known |= {q: (until, each) for q, each in zip(new, answers, strict=True)}
            self._counted = known
            return [known[question][1] for question in questions]

        # It asks nothing of the index, and may take a while.
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._counting, answer)
        loop.call_later(2 * _FRESH_SECONDS, self._forget)
        return found

    def _forget(self) -> None:
        """Sums over very many sessions are not kept for nobody."""
        self._counted = self._fresh()

    def _fresh(self) -> dict[UsageQuery, tuple[float, Summary]]:
        now = time.monotonic()
        return {each: kept for each, kept in self._counted.items() if kept[0] > now}

    # In the thread.

    def _asked(self, work: Callable[[SessionArchive], _T]) -> _T:
        archive = self._ready()
        try:
            return work(archive)
        except SUSPECT as problem:
            _log.warning("the index may be damaged: %r", problem)
            archive.mend_index()
            return work(archive)

    def _ready(self) -> SessionArchive:
        if self._archive is None:
            self._archive = self._open()
        if self.indexing is not None:
            self.indexing = self._archive.wait_index(0.0)
        elif time.monotonic() >= self._fresh_until:
            self.indexing = self._archive.begin_index()
            self._fresh_until = time.monotonic() + _FRESH_SECONDS
        for sentence in self._archive.troubles():
            if sentence not in self._told:  # every few seconds would be too often
                _log.warning("%s", sentence)
                self._told.add(sentence)
        return self._archive

    def _close(self) -> None:
        while self._kept:
            self._kept.popitem()[1].file.close()
        if self._archive is not None:
            self._archive.close()
            self._archive = None

    def _entries(self, session: SavedSession) -> list[SavedEntry]:
        kept = self._kept.get(session.id)
        if kept is None or kept.path != session.path or kept.file.is_replaced:
            if kept is not None:
                kept.file.close()
            kept = self._kept[session.id] = _Kept(session.path, session.follow(), [])
        kept.entries.extend(SavedEntry(seq, each.at, each) for seq, each in _news(kept.file))
        if kept.file.is_replaced:
            return self._entries(session)
        self._kept.move_to_end(session.id)
        while len(self._kept) > 1 and (
            len(self._kept) > _KEPT
            or sum(len(each.entries) for each in self._kept.values()) > _MOST_KEPT
        ):
            self._kept.popitem(last=False)[1].file.close()
        return kept.entries


class Followed:
    """A saved session that is followed: ``news`` is what has come, ``is_finished`` whether more can come."""

    def __init__(self, worker: ArchiveWorker, file: NumberedFile, after: int) -> None:
        self._worker = worker
        self._file = file
        self._after = after
        self._coming: Iterator[Numbered] | None = None
        self.is_finished = False
        self._first: list[SavedEntry] = []

    async def news(self, limit: int) -> list[SavedEntry]:
        """What has come since the last time, so many at most; nothing if there is no more just now."""
        if self._first:
            found, self._first = self._first, []
            return found
        return await self._worker.ask(lambda _: self._news(limit))

    async def has_more(self) -> bool:
        """Whether there is something to be told, or may be."""
        self._first = await self.news(1)
        return bool(self._first) or not self.is_finished

    def close(self) -> None:
        self._worker.let_go(self._file)

    def _news(self, limit: int) -> list[SavedEntry]:
        # First: what is written until no program writes any more is still read.
        is_finished = self._file.is_finished
        if self._coming is None:
            self._coming = (each for each in _news(self._file) if each[0] > self._after)
        found = [SavedEntry(seq, each.at, each) for seq, each in islice(self._coming, limit)]
        if not found:
            self._coming = None
            self.is_finished = is_finished and self._file.is_finished
        return found


def _news(file: NumberedFile) -> Iterator[Numbered]:
    """What has come; nothing while the file is on its way to another place."""
    try:
        yield from file.news()
    except FileNotFoundError:
        return
    except OSError as problem:
        raise UnreadableSource(file.path, problem.strerror or str(problem)) from problem


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _exported(messages: Iterator[Message], to: str) -> Iterator[bytes]:
    exporter, _ = make_exporter(to, secrets=secrets_in(os.environ))
    while batch := list(islice(messages, _BATCH)):
        yield exporter.export(batch)
    yield exporter.finish()


def as_time(seconds: float | None) -> datetime | None:
    """Seconds since 1970 as a time, if they are one."""
    if seconds is None or not 0 <= seconds < 1 << 37:
        return None
    return datetime.fromtimestamp(seconds, UTC)
