"""The live events of a session, encoded once and buffered briefly, for any number of readers.

A reader is only a position: no queue, no copy. A reader that falls behind the buffer gets a ``gap`` and
continues from the store, after the last entry that it received. A reader that has caught up, at first or
after a gap, gets the text in progress from its start (``partial``) and then its deltas, so that no piece
is missing or repeated. Readers at the same position share the same bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

import msgspec

from dragoman.hub.hub import Delivery, Entry, Gap, InProgress, Partial, SoFar, Transient
from dragoman.model.messages import Delta
from dragoman.web.streams import sse

PAGE: Final = 32
"""The number of entries read from the store at once."""
_AT_ONCE: Final = 32_768
"""The most bytes that a late reader gets at once, unless a single event is larger. It bounds the memory
that a stalled reader occupies."""
_MOST: Final = 4_000_000
"""The most bytes in the buffer, however few events that are."""


class EntrySource(Protocol):
    """The part of the hub that a channel needs."""

    def entries(self, session_id: str, *, after: int = 0, limit: int = 500) -> list[Entry]: ...


class Closable(Protocol):
    def close(self) -> None: ...


Heard: TypeAlias = Entry | Transient
Encode: TypeAlias = Callable[[Sequence[Heard | None]], bytes]
"""Encodes items as events; None is a heartbeat."""


def entry_frame(entry: Entry) -> bytes:
    """An entry as an event, with its number as id."""
    return entry.once("sse", _entry_frame)


def _entry_frame(entry: Entry) -> bytes:
    return sse.frame(entry.json, event="entry", event_id=entry.seq)


def _passing_frame(passing: Transient) -> bytes:
    return sse.frame(passing.json, event="delta")


def partial_frame(so_far: SoFar) -> bytes:
    """The text in progress. It replaces what the reader has of it."""
    return sse.frame(msgspec.json.encode(so_far), event="partial")


def gap_frame(seq: int) -> bytes:
    return sse.frame(msgspec.json.encode({"after": seq}), event="gap")


class Channel:
    """The newest events of one session. Positions count all events since the channel was opened."""

    def __init__(self, session_id: str, source: EntrySource, *, last_seq: int, keep: int) -> None:
        self.session_id = session_id
        self.readers = 0
        self.end = 0
        """The position after the newest event."""
        self.last_seq = last_seq
        """The number of the newest entry sent here, or stored before."""
        self._source = source
        self._keep = keep
        self._first_seq = last_seq
        """The number of the newest entry before the buffer."""
        self._heard: list[Heard | InProgress | None] = []
        self._frames: list[bytes] = []
        self._size = 0
        self._seqs: list[int] = []
        """The newest entry up to and including each event."""
        self._waiting: list[asyncio.Future[None]] = []
        self.news_from = -1
        self.news = b""
        """The last batch and its position, shared by all readers that keep up."""
        self.source: Closable | None = None
        """The hub subscription; closed with the channel."""
        self._partial = Partial()
        self._is_new = True
        self.is_closed = False

    # The writing side.

    def tell(self, told: Sequence[Delivery]) -> None:
        """Add items from the hub, and wake the readers."""
        begin = self.end
        for each in told:
            if isinstance(each, Gap):
                # Readers get the entries from the store, and then the text in progress at that time.
                self._partial, self._is_new = Partial(), False
                self._add(None, gap_frame(self.last_seq), self.last_seq)
            elif isinstance(each, InProgress):
                self._begin(each)
            elif isinstance(each, Entry):
                if each.seq <= self.last_seq:
                    continue
                self._partial.whole(each.message)
                self._add(each, entry_frame(each), each.seq)
            else:
                self._is_new = False
                if isinstance(each.message, Delta):
                    self._partial.add(each.message)
                self._add(each, each.once("sse", _passing_frame), self.last_seq)
        self._wake(begin)

    def _begin(self, begun: InProgress) -> None:
        self._partial = Partial(begun.things)
        for each in begun.things:
            # Formats cannot retract text, so they get it only if no part of it can have been sent before.
            heard = Transient(each.message, self.last_seq) if self._is_new else begun
            self._add(heard, partial_frame(each), self.last_seq)
        self._is_new = False

    def beat(self) -> None:
        """Send a heartbeat."""
        begin = self.end
        self._add(None, sse.HEARTBEAT, self.last_seq)
        self._wake(begin)

    def close(self) -> None:
        """End the channel, and wake all readers."""
        self.is_closed = True
        if self.source is not None:
            self.source.close()
        self._wake(self.end)

    def _add(self, heard: Heard | InProgress | None, frame: bytes, seq: int) -> None:
        self._heard.append(heard)
        self._frames.append(frame)
        self._size += len(frame)
        self._seqs.append(seq)
        self.last_seq = seq
        self.end += 1
        if len(self._frames) > 2 * self._keep or self._size > _MOST:
            # Drop half of the buffer at once, so that the amortized cost is negligible.
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

    # The reading side.

    @property
    def start(self) -> int:
        """The position of the oldest event in the buffer."""
        return self.end - len(self._frames)

    def wait(self) -> asyncio.Future[None]:
        """A future that completes with the next event."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def seq_at(self, position: int) -> int:
        """The newest entry before this position."""
        place = position - self.start
        return self._seqs[place - 1] if place > 0 else self._first_seq

    def until(self, position: int) -> int:
        """The end of the next batch for a reader at this position, limited in bytes."""
        size, place = 0, position - self.start
        while place < len(self._frames) and size < _AT_ONCE:
            size += len(self._frames[place])
            place += 1
        return self.start + place

    def frames(self, position: int, until: int) -> bytes:
        """The encoded events between two positions."""
        return b"".join(self._frames[position - self.start : until - self.start])

    def heard(self, position: int, until: int) -> list[Heard | None]:
        """The same as items; None is a heartbeat."""
        found = self._heard[position - self.start : until - self.start]
        return [each for each in found if not isinstance(each, InProgress)]

    def so_far(self) -> list[SoFar]:
        """The text in progress at the end of the buffer."""
        return self._partial.snapshot()

    def has(self, seq: int) -> bool:
        """Whether this entry was already sent: the store may be ahead of the channel."""
        if seq <= self.last_seq:
            return True
        return bool(self._source.entries(self.session_id, after=seq - 1, limit=1))

    def stored(self, after: int) -> list[Entry]:
        """The next entries of the store, a limited number at once.

        Entries that the channel has not sent yet are left out: a reader that ran ahead of the channel
        could never share its batches again.
        """
        if after >= self.last_seq:
            return []
        limit = min(PAGE, self.last_seq - after)
        page = self._source.entries(self.session_id, after=after, limit=limit)
        size = 0
        for count, entry in enumerate(page, 1):
            size += len(entry.message_json)
            if size >= _AT_ONCE:
                return page[:count]
        return page


class Cursor:
    """A reader's position in a channel."""

    def __init__(self, channel: Channel, after: int) -> None:
        self._channel = channel
        self.seq = after if channel.has(after) else channel.last_seq
        """The newest entry sent to this reader."""
        self._position: int | None = None
        """None while the reader catches up from the store, or waits for the channel to reach its entry."""
        self._things: list[SoFar] = []
        """The text in progress that is still to be sent after catching up."""
        self._is_new = True
        self._settle()

    @property
    def is_late(self) -> bool:
        """Whether it reads from the store."""
        return self._position is None

    def _settle(self) -> bool:
        """Join the channel if the reader has caught up, with the text in progress."""
        if self.seq != self._channel.last_seq:
            return False
        self._position, self._things = self._channel.end, self._channel.so_far()
        return True

    async def next(self, encode: Encode | None = None) -> bytes | None:
        """Wait for data to send, at least one event; None at the end."""
        channel = self._channel
        while not (sent := self.take(encode)):
            if channel.is_closed:
                return None
            await channel.wait()
        return sent

    def take(self, encode: Encode | None = None) -> bytes:
        """The data to send now, if any."""
        channel = self._channel
        if self._position == channel.news_from and encode is None and not self._things:
            self._position, self.seq = channel.end, channel.last_seq
            return channel.news
        gap = b""
        if self._position is not None and self._position < channel.start:
            self._position, self._things = None, []
            gap = gap_frame(self.seq) if encode is None else b""
        sent = b""
        while not sent:  # a format may encode these entries as nothing
            position = self._position
            if self._things:
                sent = self._begun(encode)
            elif position is None:
                entries = channel.stored(self.seq)
                if entries:
                    self.seq = entries[-1].seq
                    sent = encode(entries) if encode else b"".join(map(entry_frame, entries))
                elif not self._settle():
                    break
            elif position == channel.end:
                break
            else:
                self._position = until = channel.until(position)
                self.seq = channel.seq_at(until)
                sent = (
                    encode(channel.heard(position, until))
                    if encode
                    else channel.frames(position, until)
                )
        return gap + sent

    def _begun(self, encode: Encode | None) -> bytes:
        """The text in progress, from its start."""
        things, self._things = self._things, []
        is_new, self._is_new = self._is_new, False
        if encode is None:
            return b"".join(map(partial_frame, things))
        # A format that was sent a part of it cannot retract that.
        return encode([Transient(each.message, self.seq) for each in things]) if is_new else b""
