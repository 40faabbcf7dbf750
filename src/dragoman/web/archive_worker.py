"""Gives the server access to the archive, in one thread, because an SQLite connection belongs to its thread.

The index is checked at most every few seconds and updated by a separate process; queries are answered from
its current state. Recently opened small sessions are cached, so that paging does not read the file each
time; of large sessions, only the requested range is read.
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
"""Sessions of more bytes are read in ranges instead of being cached."""
_MOST_KEPT: Final = 60_000
"""The most cached messages, over all sessions."""


class SavedEntry(msgspec.Struct, frozen=True):
    """A message of a saved session with its number, from 1."""

    seq: int
    at: datetime | None
    message: Message


class _Kept(NamedTuple):
    """A session with cached entries."""

    path: str
    file: NumberedFile
    entries: list[SavedEntry]


class ArchiveWorker:
    """``ArchiveWorker(open)``: runs work on the archive in its thread. Opens the archive on first use."""

    def __init__(self, open_archive: Callable[[], SessionArchive]) -> None:
        self._open = open_archive
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="archive-worker")
        self._archive: SessionArchive | None = None
        self._fresh_until = 0.0
        self._counting = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self.indexing: Progress | None = None
        """The progress of indexing; None if the index is up to date."""
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._told: set[str] = set()
        self._beside = CountingProcess()
        self._counted: dict[UsageQuery, tuple[float, Summary]] = {}

    async def ask(self, work: Callable[[SessionArchive], _T]) -> _T:
        """Run ``work`` on the archive, in its thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: self._asked(work))

    def look_again(self) -> None:
        """Check the disk before the next query, because something is known to have changed."""
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
        """A range of a saved session: the entries after ``after``, or the last ones before ``before``."""

        def look(archive: SessionArchive) -> list[SavedEntry]:
            session = archive.get(session_id)
            if not os.path.exists(session.path):
                self.look_again()  # the file was moved or compressed meanwhile
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
        """Follow a saved session from a number on, as its file grows."""
        followed = await self.ask(lambda archive: archive.get(session_id).follow(after + 1))
        return Followed(self, followed, after)

    def let_go(self, followed: NumberedFile) -> None:
        """Close a file that is no longer followed."""
        with suppress(RuntimeError):  # the thread has ended and closed all files
            self._thread.submit(followed.close)

    async def export(self, session_id: str, to: str) -> AsyncGenerator[bytes]:
        """A saved session in another format, in pieces."""
        loop = asyncio.get_running_loop()

        def begin(archive: SessionArchive) -> Iterator[bytes]:
            return _exported(archive.get(session_id).messages(), to)

        pieces = await self.ask(begin)
        while (piece := await loop.run_in_executor(self._thread, next, pieces, None)) is not None:
            yield piece

    async def usage(self, by: By, choice: LedgerFilter) -> Summary:
        """Tokens and cost of all saved sessions."""
        [found] = await self.usages([by], choice)
        return found

    async def usages(self, every: Sequence[By], choice: LedgerFilter) -> list[Summary]:
        """The same for several groupings, with one count."""
        archive = await self.ask(lambda archive: archive)
        questions = [UsageQuery(by, choice) for by in every]

        def answer() -> list[Summary]:
            # Copied first: a cached answer may expire while the rest is counted.
            known = self._fresh()
            new = [question for question in questions if question not in known]
            answers = self._beside.count(archive.place, new) if new else ()
            until = time.monotonic() + _FRESH_SECONDS
            known |= {q: (until, each) for q, each in zip(new, answers, strict=True)}
            self._counted = known
            return [known[question][1] for question in questions]

        # In its own thread: counting does not use the index, and may take a while.
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._counting, answer)
        loop.call_later(2 * _FRESH_SECONDS, self._forget)
        return found

    def _forget(self) -> None:
        """Drop expired totals, which can be large, from memory."""
        self._counted = self._fresh()

    def _fresh(self) -> dict[UsageQuery, tuple[float, Summary]]:
        now = time.monotonic()
        return {each: kept for each, kept in self._counted.items() if kept[0] > now}

    # The methods below run in the thread.

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
            if sentence not in self._told:  # warn once, not every few seconds
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
    """A saved session that is followed: ``news`` returns new entries, ``is_finished`` whether more can come."""

    def __init__(self, worker: ArchiveWorker, file: NumberedFile, after: int) -> None:
        self._worker = worker
        self._file = file
        self._after = after
        self._coming: Iterator[Numbered] | None = None
        self.is_finished = False
        self._first: list[SavedEntry] = []

    async def news(self, limit: int) -> list[SavedEntry]:
        """New entries since the last call, ``limit`` at most; empty if there are none yet."""
        if self._first:
            found, self._first = self._first, []
            return found
        return await self._worker.ask(lambda _: self._news(limit))

    async def has_more(self) -> bool:
        """Whether there are entries, or more may come."""
        self._first = await self.news(1)
        return bool(self._first) or not self.is_finished

    def close(self) -> None:
        self._worker.let_go(self._file)

    def _news(self, limit: int) -> list[SavedEntry]:
        # Checked before reading: what was written before the writer ended must still be read.
        is_finished = self._file.is_finished
        if self._coming is None:
            self._coming = (each for each in _news(self._file) if each[0] > self._after)
        found = [SavedEntry(seq, each.at, each) for seq, each in islice(self._coming, limit)]
        if not found:
            self._coming = None
            self.is_finished = is_finished and self._file.is_finished
        return found


def _news(file: NumberedFile) -> Iterator[Numbered]:
    """New entries; none while the file is being moved."""
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
    """Convert Unix time; None if it is out of range."""
    if seconds is None or not 0 <= seconds < 1 << 37:
        return None
    return datetime.fromtimestamp(seconds, UTC)
