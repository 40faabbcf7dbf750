"""Shares one hub subscription per session among all its readers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, Protocol

import msgspec

from dragoman.errors import DragomanError
from dragoman.hub.hub import Hub, LiveSession, Reader
from dragoman.web.api.shapes import NewestSaved
from dragoman.web.settings import Settings
from dragoman.web.streams import sse
from dragoman.web.streams.channels import Channel
from dragoman.web.trimming import trim_now_and_then

_AT_ONCE: Final = 256
_TURNS: Final = 4
"""The number of readers that catch up from the store in one step of the loop."""
_log = logging.getLogger(__name__)


class _SlowReader(Protocol):
    """The connection of a reader that may be too slow."""

    @property
    def sending_since(self) -> float | None: ...
    @property
    def is_allowed(self) -> Callable[[], bool]: ...
    def give_up(self) -> None: ...


class Broadcasts:
    """``async with Broadcasts(hub, settings).open()``: provides the channels of sessions."""

    def __init__(self, hub: Hub, settings: Settings) -> None:
        self._hub = hub
        self._settings = settings
        self._channels: dict[str, Channel] = {}
        self._list = ListChannel(hub.sessions)
        self._group: asyncio.TaskGroup | None = None
        self._sending: set[_SlowReader] = set()
        self.turn = asyncio.Semaphore(_TURNS)
        """Limits the readers that catch up from the store at the same time."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Broadcasts]:
        async with asyncio.TaskGroup() as group:
            self._group = group
            tasks = [
                group.create_task(self._keep_time()),
                group.create_task(self._follow_list()),
                group.create_task(trim_now_and_then()),
            ]
            try:
                yield self
            finally:
                self.hang_up()
                for each in tasks:
                    each.cancel()

    @property
    def is_over(self) -> bool:
        """Whether all streams have ended."""
        return self._group is None

    def hang_up(self) -> None:
        """End all streams."""
        self._group = None
        for channel in self._channels.values():
            channel.close()
        self._list.close()

    @property
    def sessions(self) -> ListChannel:
        """The channel for changes of all sessions."""
        return self._list

    @asynccontextmanager
    async def reading(self, session_id: str) -> AsyncGenerator[Channel]:
        """The channel of a session. It exists while it has readers."""
        channel = self._channels.get(session_id)
        if channel is None or channel.is_closed:
            last_seq = self._hub.get(session_id).last_seq
            channel = Channel(session_id, self._hub, last_seq=last_seq, keep=self._settings.keep)
            if self._group is None:
                raise DragomanError("the server is closing")
            self._channels[session_id] = channel
            channel.source = self._hub.subscribe(channel.session_id, after=channel.last_seq)
            self._group.create_task(self._follow(channel, channel.source))
        channel.readers += 1
        try:
            yield channel
        finally:
            channel.readers -= 1

    @asynccontextmanager
    async def watched(self, late: _SlowReader) -> AsyncGenerator[None]:
        """Within the block, disconnect the reader if it takes no data."""
        self._sending.add(late)
        try:
            yield
        finally:
            self._sending.discard(late)

    async def _follow(self, channel: Channel, reader: Reader) -> None:
        try:
            while not channel.is_closed and (told := await reader.some(_AT_ONCE)):
                channel.tell(told)
        except DragomanError as problem:
            _log.warning("cannot follow session %s: %s", channel.session_id, problem)
        finally:
            reader.close()
            channel.close()
            if self._channels.get(channel.session_id) is channel:
                del self._channels[channel.session_id]

    async def _follow_list(self) -> None:
        reader = self._hub.subscribe_all()
        try:
            async for changed in reader:
                self._list.tell(changed.session)
        except DragomanError as problem:
            _log.warning("cannot follow the list of sessions: %s", problem)
        finally:
            reader.close()

    async def _keep_time(self) -> None:
        """Send heartbeats, disconnect stalled readers, and close unused channels."""
        loop = asyncio.get_running_loop()
        beat_at = loop.time() + self._settings.heartbeat_seconds
        idle: set[str] = set()
        ends: dict[str, int] = {}
        while True:
            await asyncio.sleep(min(1.0, self._settings.heartbeat_seconds / 2))
            now = loop.time()
            for each in list(self._sending):
                self._look_at(each, now)
            if now < beat_at:
                continue
            beat_at = now + self._settings.heartbeat_seconds
            unread = {name for name, channel in self._channels.items() if not channel.readers}
            for name in unread & idle:
                self._channels[name].close()
            idle = unread
            for name, channel in self._channels.items():
                if channel.readers and ends.get(name) == channel.end:
                    channel.beat()
            ends = {name: channel.end for name, channel in self._channels.items()}
            self._list.beat()

    def _look_at(self, late: _SlowReader, now: float) -> None:
        since = late.sending_since
        is_slow = since is not None and now - since > self._settings.slow_seconds
        if is_slow or not late.is_allowed():
            try:
                late.give_up()
            except (OSError, RuntimeError) as problem:
                # An error with one reader must not end the streams of the others.
                _log.warning("cannot disconnect a reader: %s", problem)


class ListChannel:
    """Changes of all sessions. A new or late reader gets the complete list again."""

    def __init__(self, sessions: Callable[[], list[LiveSession]]) -> None:
        self._sessions = sessions
        self._frames: list[bytes] = []
        self._dropped = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._readers = 0
        self.is_read = asyncio.Event()
        """Set while there are readers."""
        self.saved: NewestSaved | None = None
        """The newest saved sessions; None while they are not watched."""
        self.is_closed = False

    def tell(self, session: LiveSession) -> None:
        self.say("session", session)

    def say(self, event: str, said: msgspec.Struct) -> None:
        self._add(sse.frame(msgspec.json.encode(said), event=event))

    def beat(self) -> None:
        self._add(sse.HEARTBEAT)

    def close(self) -> None:
        self.is_closed = True
        self._wake()

    def _add(self, frame: bytes) -> None:
        self._frames.append(frame)
        if len(self._frames) > 512:
            self._dropped += 256
            del self._frames[:256]
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    @contextmanager
    def reading(self) -> Generator[AsyncGenerator[bytes]]:
        """The events for one reader."""
        self._readers += 1
        self.is_read.set()
        try:
            yield self.read()
        finally:
            self._readers -= 1
            if not self._readers:
                self.is_read.clear()

    async def read(self) -> AsyncGenerator[bytes]:
        """The current list, then each change."""
        # Taken before yielding: the reader may be slow, and must not miss changes meanwhile.
        position = self._dropped + len(self._frames)
        yield self._whole()
        while not self.is_closed:
            if position < self._dropped:
                position = self._dropped + len(self._frames)
                yield self._whole()
            elif position < self._dropped + len(self._frames):
                frames = self._frames[position - self._dropped :]
                position = self._dropped + len(self._frames)
                yield b"".join(frames)
            else:
                future = asyncio.get_running_loop().create_future()
                self._waiting.append(future)
                await future

    def _whole(self) -> bytes:
        live = sse.frame(msgspec.json.encode(self._sessions()), event="sessions")
        if self.saved is None:
            return live
        return live + sse.frame(msgspec.json.encode(self.saved), event="saved_sessions")
