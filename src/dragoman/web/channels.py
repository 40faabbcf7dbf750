"""What a session says now, encoded once and kept for a little while, for any number of readers.

A reader is a position and nothing more: no queue, no copy. Whoever is late by more than what is kept is told
so (``gap``) and reads on from the store, from the last entry it has had; deltas in between are lost to it,
entries never. Who reads at the same pace is given the very same bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

import msgspec

from dragoman.crew.hub import Entry, Gap, Passing, Told
from dragoman.web import sse

PAGE: Final = 64
"""How many entries are read from the store at once."""
_AT_ONCE: Final = 262_144
"""How many bytes a reader that is late is given at once, if not a single event is larger."""
_MOST: Final = 4_000_000
"""How many bytes are kept, however few events that may be."""


class EntrySource(Protocol):
    """What a channel needs of the hub."""

    def entries(self, session_id: str, *, after: int = 0, limit: int = 500) -> list[Entry]: ...


class Closable(Protocol):
    def close(self) -> None: ...


Heard: TypeAlias = Entry | Passing
Encode: TypeAlias = Callable[[Sequence[Heard | None]], bytes]
"""Makes events of what was heard; None is a sign of life."""


def entry_frame(entry: Entry) -> bytes:
    """An entry as an event; its place is the event's id."""
    return entry.once("sse", _entry_frame)


def _entry_frame(entry: Entry) -> bytes:
    return sse.frame(entry.json, event="entry", event_id=entry.seq)


def _passing_frame(passing: Passing) -> bytes:
    return sse.frame(passing.json, event="delta")


def gap_frame(seq: int) -> bytes:
    return sse.frame(msgspec.json.encode({"after": seq}), event="gap")


class Channel:
    """The newest events of one session. Positions count every event that ever was in it."""

    def __init__(self, session_id: str, source: EntrySource, *, last_seq: int, keep: int) -> None:
        self.session_id = session_id
        self.readers = 0
        self.end = 0
        """The position behind the newest event."""
        self.last_seq = last_seq
        """Of the newest entry that was told here, or was there before."""
        self._source = source
        self._keep = keep
        self._first_seq = last_seq
        """Of the newest entry before those that are kept."""
        self._heard: list[Heard | None] = []
        self._frames: list[bytes] = []
        self._size = 0
        self._seqs: list[int] = []
        """The newest entry up to each event, itself included."""
        self._waiting: list[asyncio.Future[None]] = []
        self.news_from = -1
        self.news = b""
        """What was told last, and from which position on: what everybody who has kept up gets."""
        self.source: Closable | None = None
        """What it hears from; ended with it."""
        self.is_closed = False

    # To the readers.

    def tell(self, told: Sequence[Told]) -> None:
        """Take what the hub says, and wake whoever waits for it."""
        begin = self.end
        for each in told:
            if isinstance(each, Gap):
                continue  # what is missing follows from the store
            if isinstance(each, Entry):
                if each.seq <= self.last_seq:
                    continue
                self._add(each, entry_frame(each), each.seq)
            else:
                self._add(each, each.once("sse", _passing_frame), self.last_seq)
        self._wake(begin)

    def beat(self) -> None:
        """Say that it lives."""
        begin = self.end
        self._add(None, sse.HEARTBEAT, self.last_seq)
        self._wake(begin)

    def close(self) -> None:
        """Wake everybody, for good: nothing more will come."""
        self.is_closed = True
        if self.source is not None:
            self.source.close()
        self._wake(self.end)

    def _add(self, heard: Heard | None, frame: bytes, seq: int) -> None:
        self._heard.append(heard)
        self._frames.append(frame)
        self._size += len(frame)
        self._seqs.append(seq)
        self.last_seq = seq
        self.end += 1
        if len(self._frames) > 2 * self._keep or self._size > _MOST:
            # Half of it at once, so that it costs nothing to speak of.
            drop = max(1, len(self._frames) - self._keep, len(self._frames) // 2)
            self._size -= sum(map(len, self._frames[:drop]))
            self._first_seq = self._seqs[drop - 1]
            del self._heard[:drop], self._frames[:drop], self._seqs[:drop]

    def _wake(self, begin: int) -> None:
        self.news_from, self.news = -1, b""
        if begin >= self.start:
            self.news_from, self.news = begin, b"".join(self._frames[begin - self.start :])
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    # For the readers.

    @property
    def start(self) -> int:
        """The position of the oldest event that is kept."""
        return self.end - len(self._frames)

    def wait(self) -> asyncio.Future[None]:
        """Done when there is something new."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def seq_at(self, position: int) -> int:
        """The newest entry before this position."""
        place = position - self.start
        return self._seqs[place - 1] if place > 0 else self._first_seq

    def until(self, position: int) -> int:
        """How far a reader goes from here at once: not to the end, if that is a lot."""
        size, place = 0, position - self.start
        while place < len(self._frames) and size < _AT_ONCE:
            size += len(self._frames[place])
            place += 1
        return self.start + place

    def frames(self, position: int, until: int) -> bytes:
        """The events from one position to another, as they are sent."""
        return b"".join(self._frames[position - self.start : until - self.start])

    def heard(self, position: int, until: int) -> list[Heard | None]:
        """The same, as values; None for a sign of life."""
        return self._heard[position - self.start : until - self.start]

    def position_after(self, seq: int) -> int | None:
        """The position from which a reader that has had ``seq`` goes on; None if that is not kept."""
        if seq >= self.last_seq:
            return self.end
        if seq < self._first_seq:
            return None
        place = next(i for i, each in enumerate(self._seqs) if each > seq)
        return self.start + place

    def stored(self, after: int) -> list[Entry]:
        """The next entries of the store, not too many at once."""
        page = self._source.entries(self.session_id, after=after, limit=PAGE)
        size = 0
        for count, entry in enumerate(page, 1):
            size += len(entry.message_json)
            if size >= _AT_ONCE:
                return page[:count]
        return page


class Cursor:
    """A reader's place in a channel: what it has had, and what it gets next."""

    def __init__(self, channel: Channel, after: int) -> None:
        self._channel = channel
        self.seq = after
        """The newest entry that was given out."""
        self._position = channel.position_after(after)
        self.has_gap = False

    async def next(self, encode: Encode | None = None) -> bytes | None:
        """What there is to send now, at least one event; None at the end."""
        channel = self._channel
        while not (sent := self.take(encode)):
            if channel.is_closed:
                return None
            await channel.wait()
        return sent

    def take(self, encode: Encode | None = None) -> bytes:
        """What there is to send now, if anything."""
        channel = self._channel
        position = self._position
        if position == channel.news_from and encode is None:
            self._position, self.seq = channel.end, channel.last_seq
            return channel.news
        if position is not None and position < channel.start:
            self._position, self.has_gap, position = None, True, None
        while position is None:
            if sent := self._from_store(encode):
                return sent
            position = self._position
        return self._from_channel(position, encode) if position < channel.end else b""

    def _from_channel(self, position: int, encode: Encode | None) -> bytes:
        channel = self._channel
        until = channel.until(position)
        self._position, self.seq = until, channel.seq_at(until)
        if encode is None:
            return channel.frames(position, until)
        return encode(channel.heard(position, until))

    def _from_store(self, encode: Encode | None) -> bytes:
        channel = self._channel
        entries = channel.stored(self.seq)
        gap = gap_frame(self.seq) if self.has_gap and encode is None else b""
        self.has_gap = False
        if entries:
            self.seq = entries[-1].seq
        self._position = channel.position_after(self.seq) if entries else channel.end
        if encode is not None:
            return encode(entries)
        return gap + b"".join(map(entry_frame, entries))
