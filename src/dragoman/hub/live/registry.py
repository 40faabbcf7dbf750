"""The registry of live sessions: messages come in, are stored, and are then delivered to the readers.

It knows the store, the sessions and their readers, and no agent: :mod:`dragoman.hub.hub` brings
the messages. All of this happens in the thread of the event loop, except writing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from weakref import WeakSet

import msgspec

from dragoman.hub.live.accepted import Accepted
from dragoman.hub.live.readers import ListReader, Reader
from dragoman.hub.live.source import NO_SOURCE, Source
from dragoman.hub.live.state import LiveState
from dragoman.hub.shapes import LiveSession, UnknownSession
from dragoman.model.messages import Delta, Message, RateLimits, SessionStarted, TurnEnded, encode
from dragoman.store.live.entries import Entry, Transient
from dragoman.store.live.reading import LiveStoreUnusable, StoredSession
from dragoman.store.live.schema import OWN
from dragoman.store.live.store import LiveStore
from dragoman.wire.jsonl import UNREADABLE

_JOURNAL_KEPT: Final = timedelta(days=30)
_decode_session: Final = msgspec.json.Decoder(LiveSession).decode
_encode_session: Final = msgspec.json.Encoder().encode
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _session_of(stored: StoredSession) -> LiveSession:
    """The session as last stored; a stand-in if that cannot be read, so that its entries can be."""
    try:
        info = _decode_session(stored.body)
        if info.id == stored.session_id:
            return info
        problem = "its name has changed"
    except (*UNREADABLE, TypeError) as error:
        problem = str(error)
    return LiveSession(
        id=stored.session_id,
        harness="",
        cwd="",
        title="damaged session",
        state="failed",
        error=f"its record in the live store is damaged: {problem}",
        created_at=_NEVER,
        updated_at=_NEVER,
    )


class _Item(NamedTuple):
    live: LiveState
    what: Entry | Transient


class _LiveState(NamedTuple):
    live: LiveState
    info: LiveSession


class LiveRegistry:
    """Opened in the event loop; :meth:`close` it."""

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.get_running_loop()
        self.store = LiveStore(folder, committed=self._from_writer, failed=self._from_failed_writer)
        try:
            self._restore()
        except BaseException:
            self.store.close()
            raise

    def _restore(self) -> None:
        """Take up what is in the store."""
        self.accepted = Accepted(self.store)
        self.lives: dict[str, LiveState] = {}
        self._by_name: dict[str, LiveState] = {}
        own = LiveSession(id="", harness="", cwd="", created_at=_NEVER, updated_at=_NEVER)
        self._own = LiveState(OWN, own, seq=self.store.reading.last_seq(OWN))
        """Messages of no session: kept, and not shown."""
        self._early: list[tuple[Message, Source]] = []
        self._opening = 0
        self._changed: dict[str, LiveState] = {}
        self._list_readers: WeakSet[ListReader] = WeakSet()
        self._storing: set[asyncio.Future[None]] = set()
        self.failed: list[Callable[[], None]] = []
        """Called when the store cannot be written any more."""
        self.steering = 0
        """How many words to a turn under way are just being sent."""
        for stored in self.store.reading.sessions():
            self.know(LiveState(stored.number, _session_of(stored), seq=stored.last_seq))
        self.store.prune(datetime.now(UTC) - _JOURNAL_KEPT)

    def close(self) -> None:
        self._write_changes()
        self.store.close()
        for live in self.lives.values():
            for reader in live.readers:
                reader.close()
        for each in list(self._list_readers):
            each.close()

    # Sessions.

    def get(self, session_id: str) -> LiveState:
        live = self.lives.get(session_id)
        if live is None:
            raise UnknownSession(session_id)
        return live

    def find(self, name: str | None) -> LiveState | None:
        """The session that the harness calls so, or that an agent of this name works for."""
        return self._by_name.get(name or "")

    def know(self, live: LiveState) -> None:
        """It is one of ours, under all the names it has."""
        self.lives[live.id] = live
        for name in live.members:
            self._by_name[name] = live

    def begin(self, info: LiveSession) -> LiveState:
        """A new session."""
        live = LiveState(self.store.new_session(), info)
        self.know(live)
        self.changed(live)
        self._write_changes()
        return live

    # What comes.

    def expecting(self) -> None:
        """A session is being opened: messages of an unknown session may be for it."""
        self._opening += 1

    def expected(self) -> None:
        """It is open, or is not going to be."""
        self._opening -= 1
        early, self._early = self._early, []
        for message, source in early:
            self.publish(message, source)

    def publish(self, message: Message, source: Source = NO_SOURCE) -> None:
        """Take a message of any session. Quick: it is called for each message, by the reader."""
        name = message.session_id
        live = self._by_name.get(name or "")
        if live is None and name is not None:
            live = self.adopt(message)
            if live is None and self._opening:
                self._early.append((message, source))
                return
        self.add(live if live is not None else self._own, message, source=source)

    def adopt(self, message: Message) -> LiveState | None:
        """The session that this agent's message belongs to, if it is one of ours."""
        if self._opening or not isinstance(message, SessionStarted):
            return None
        parent = self._by_name.get(message.parent_session_id or "")
        if parent is not None and message.session_id is not None:
            parent.members.add(message.session_id)
            self._by_name[message.session_id] = parent
        return parent

    def _keep_dropped(self, live: LiveState, message: Message) -> None:
        """Store what the agent was saying before a steer and has dropped, where it was said."""
        for said in live.unfinished.dropped(message):
            self.add(live, said, ours=True)

    def add(
        self, live: LiveState, message: Message, *, ours: bool = False, source: Source = NO_SOURCE
    ) -> None:
        """Make an entry of the message, to be stored and then delivered; a delta is only delivered."""
        if isinstance(message, Delta):
            if live is self._own:
                return
            if message.of != "output":
                self._keep_dropped(live, message)
                live.unfinished.add(message)
            # Also without readers: a later one gets the text so far.
            self.store.writer.publish(_Item(live, Transient(message, live.seq)))
            return
        if isinstance(message, TurnEnded):
            for said in live.unfinished.said(message.session_id):
                self.add(live, said, ours=True)
        self._keep_dropped(live, message)
        live.unfinished.whole(message)
        at = datetime.now(UTC)
        if not message.line:
            live.note_own(message)
        live.seq += 1
        connection = 0 if ours or not message.line else source.number
        if source.number:
            live.connection = source.number
        data = encode(message)
        entry = Entry(live.id, live.seq, at, data, message, connection)
        told = _Item(live, entry)
        if live is self._own:
            self.store.add_entry(live.number, entry, told)
            if isinstance(message, RateLimits) and message.windows:
                self._limited(message, source.harness)
            return
        with self.store.writer.together():
            self.store.add_entry(live.number, entry, told)
            self.accepted.seen(live.id, message)
            if live.add(message, at, is_only_sent=message.line in source.steering_lines):
                self._write(live)

    def _limited(self, message: RateLimits, harness: str) -> None:
        """The account's limits are those of every open session of the harness."""
        for live in self.lives.values():
            if live.driver is not None and live.info.harness == harness:
                live.set(rate_limits=message.windows)
                self.changed(live)

    def changed(self, live: LiveState) -> None:
        """A change other than a message. Store the new state soon, and notify readers of the list."""
        if not self._changed:
            self._loop.call_soon(self._write_changes)
        self._changed[live.id] = live

    def _write_changes(self) -> None:
        changed, self._changed = self._changed, {}
        for live in changed.values():
            self._write(live)

    def _write(self, live: LiveState) -> None:
        info = live.info
        self.store.put_session(live.number, live.id, _encode_session(info))
        self.store.writer.publish(_LiveState(live, info))

    # Delivery.

    def _from_writer(self, told: list[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed: there are no readers
            self._loop.call_soon_threadsafe(self._deliver, told)

    def _deliver(self, told: list[Any]) -> None:
        by_live: dict[LiveState, list[Entry | Transient]] = {}
        sessions: dict[str, LiveState] = {}
        futures: list[asyncio.Future[None]] = []
        for each in told:
            if isinstance(each, _Item):
                by_live.setdefault(each.live, []).append(each.what)
            elif isinstance(each, _LiveState):
                each.live.was_stored(each.info)
                sessions[each.live.id] = each.live
            else:
                futures.append(each)
        for live, items in by_live.items():
            live.deliver(items)
        for live in sessions.values():
            info = live.shown
            for reader in list(self._list_readers):
                reader.put(info)
        for future in futures:
            if not future.done():
                future.set_result(None)

    def _from_failed_writer(self, problem: str) -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._fail, problem)

    def _fail(self, problem: str) -> None:
        """Nothing is delivered until the store can be written again; waiting callers get the error."""
        for future in list(self._storing):
            if not future.done():
                future.set_exception(LiveStoreUnusable(f"nothing can be stored: {problem}"))
        for failed in self.failed:
            failed()

    async def stored(self) -> None:
        """Wait until everything received so far is stored. Raises :class:`LiveStoreUnusable`."""
        if self.store.writer.problem is not None:
            raise LiveStoreUnusable(f"nothing can be stored: {self.store.writer.problem}")
        self._write_changes()
        future: asyncio.Future[None] = self._loop.create_future()
        self._storing.add(future)
        future.add_done_callback(self._storing.discard)
        self.store.writer.publish(future)
        await future

    # Reading.

    def subscribe(self, session_id: str, after: int) -> Reader:
        live = self.get(session_id)

        def read(behind: int, limit: int) -> list[Entry]:
            # Stored entries are delivered in order: a reader who sees the end of a turn
            # must not find the session still at work.
            most = min(limit, live.told_seq - behind)
            if most <= 0:
                return []
            return self.store.reading.entries(live.number, live.id, after=behind, limit=most)

        reader = Reader(read, after, live.partial.snapshot)
        live.listen(reader)
        return reader

    def subscribe_all(self) -> ListReader:
        reader = ListReader()
        self._list_readers.add(reader)
        return reader
