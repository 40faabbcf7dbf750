"""What a session says now, encoded once and kept for a little while, for any number of readers.

A reader is a position and nothing more: no queue, no copy. One that is late by more than what is kept is told so (``gap``)
and reads on from the store, from the last entry it has had. Whoever has caught up, at first or after a gap, is given what
is being said at that moment, from its beginning (``partial``), and then the deltas that follow: no piece is missing and
none comes twice. Readers of the same pace are given the very same bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

import msgspec

from dragoman.hub.hub import Begun, Entry, Gap, Partial, Passing, SoFar, Told
from dragoman.model.messages import Delta
from dragoman.web.streams import sse

PAGE: Final = 32
"""How many entries are read from the store at once."""
_AT_ONCE: Final = 32_768
"""How many bytes a reader that is late is given at once, if not a single event is larger: what one that does not read
holds of our memory."""
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


def partial_frame(so_far: SoFar) -> bytes:
    """The text so far of something that is being said; it replaces what a reader has of it."""
    return sse.frame(msgspec.json.encode(so_far), event="partial")


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
        self._heard: list[Heard | Begun | None] = []
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
        self._partial = Partial()
        self._is_new = True
        self.is_closed = False

    # To the readers.

    def tell(self, told: Sequence[Told]) -> None:
        """Take what the hub says, and wake whoever waits for it."""
        begin = self.end
        for each in told:
            if isinstance(each, Gap):
                # Entries follow from the store, and then what is being said by then.
                self._partial, self._is_new = Partial(), False
                self._add(None, gap_frame(self.last_seq), self.last_seq)
            elif isinstance(each, Begun):
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

    def _begin(self, begun: Begun) -> None:
        self._partial = Partial(begun.things)
        for each in begun.things:
            # Formats cannot take anything back: they get it only where nothing of it can have been given before.
            heard = Passing(each.message, self.last_seq) if self._is_new else begun
            self._add(heard, partial_frame(each), self.last_seq)
        self._is_new = False

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

    def _add(self, heard: Heard | Begun | None, frame: bytes, seq: int) -> None:
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
        found = self._heard[position - self.start : until - self.start]
        return [each for each in found if not isinstance(each, Begun)]

    def so_far(self) -> list[SoFar]:
        """What is being said at the end of what was told here."""
        return self._partial.snapshot()

    def has(self, seq: int) -> bool:
        """Whether anybody can have had this entry: the store may be ahead of what is told here."""
        if seq <= self.last_seq:
            return True
        return bool(self._source.entries(self.session_id, after=seq - 1, limit=1))

    def stored(self, after: int) -> list[Entry]:
        """The next entries of the store, not too many at once.

        None that is still to be told here: whoever ran ahead of the others would read alone for ever.
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
    """A reader's place in a channel: what it has had, and what it gets next."""

    def __init__(self, channel: Channel, after: int) -> None:
        self._channel = channel
        self.seq = after if channel.has(after) else channel.last_seq
        """The newest entry that was given out."""
        self._position: int | None = None
        """None: it catches up in the store, or waits until what it has had is told here."""
        self._things: list[SoFar] = []
        """What was being said when it had caught up, and is still to be given out."""
        self._is_new = True
        self._settle()

    @property
    def is_late(self) -> bool:
        """Whether it reads from the store, for itself alone."""
        return self._position is None

    def _settle(self) -> bool:
        """Whether it has caught up; then it goes on from here, with what is being said."""
        if self.seq != self._channel.last_seq:
            return False
        self._position, self._things = self._channel.end, self._channel.so_far()
        return True

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
        if self._position == channel.news_from and encode is None and not self._things:
            self._position, self.seq = channel.end, channel.last_seq
            return channel.news
        gap = b""
        if self._position is not None and self._position < channel.start:
            self._position, self._things = None, []
            gap = gap_frame(self.seq) if encode is None else b""
        sent = b""
        while not sent:  # a format may have no word for what was read
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
        """What is being said, from its beginning."""
        things, self._things = self._things, []
        is_new, self._is_new = self._is_new, False
        if encode is None:
            return b"".join(map(partial_frame, things))
        # A format that has had a part of it cannot take that back.
        return encode([Passing(each.message, self.seq) for each in things]) if is_new else b""
