"""Readers of live sessions: each has a cursor and a short queue; a slow one reads from the store.

A reader starts behind its cursor, in the store. When it has caught up it gets the unfinished texts of that moment, from
its beginning (``InProgress``), and from then on what is delivered live. If its queue overflows it is emptied, the reader gets
a gap and catches up again in the same way. Nothing waits for a reader.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from dragoman.hub.shapes import (
    Delivery,
    Entry,
    Gap,
    InProgress,
    LiveSession,
    SessionChanged,
    SoFar,
    Transient,
)

QUEUE: Final = 256
"""What a reader may leave lying. The things themselves are shared by all readers."""
_PAGE: Final = 128


class _Waiting:
    """Something that a task waits for, and that ends."""

    def __init__(self) -> None:
        self._waiter: asyncio.Future[None] | None = None
        self.is_closed = False

    def wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self) -> None:
        """No more entries: waiting readers come to the end."""
        self.is_closed = True
        self.wake()

    async def aclose(self) -> None:
        self.close()

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None


class Reader(_Waiting):
    """Reads one session: ``async for entry in reader``, or ``await reader.some()`` for all that is there."""

    def __init__(
        self,
        read: Callable[[int, int], list[Entry]],
        after: int,
        so_far: Callable[[], list[SoFar]] = list,
    ) -> None:
        """``read(after, limit)`` gives entries of the store, ``so_far()`` the unfinished texts."""
        super().__init__()
        self._read = read
        self._so_far = so_far
        self._queue: deque[Delivery] = deque()
        self._taken = max(0, after)
        """The newest entry that is, or was, in the queue."""
        self._given = self._taken
        """The newest entry that was given out."""
        self._is_behind = True
        self.gaps = 0

    def put(self, told: Sequence[Entry | Transient]) -> None:
        """Take live items. Never waits."""
        if self.is_closed:
            return
        if not self._is_behind:
            queue, taken = self._queue, self._taken
            for each in told:
                if isinstance(each, Entry):
                    if each.seq <= taken:
                        continue  # it was in the store already
                    taken = each.seq
                elif each.after < taken:
                    continue  # and so was the whole that it is a piece of
                queue.append(each)
            self._taken = taken
            if len(queue) > QUEUE:
                self._fall_behind()
        if self._waiter is not None:
            self.wake()

    def _fall_behind(self) -> None:
        self._queue.clear()
        self._queue.append(Gap(from_seq=self._given))
        self._taken = self._given
        self._is_behind = True
        self.gaps += 1

    async def some(self, most: int = 64) -> list[Delivery]:
        """What is there, at least one and at most so many; nothing when no more will come."""
        while not self._queue and not self._catch_up():
            if self.is_closed:
                return []
            await self._wait()
        queue = self._queue
        told = [queue.popleft() for _ in range(min(most, len(queue)))]
        for each in reversed(told):
            if type(each) is Entry:
                self._given = each.seq
                break
        return told

    def _catch_up(self) -> bool:
        """Read on in the store; whether there was anything."""
        if not self._is_behind or self.is_closed:
            return False
        page = self._read(self._taken, _PAGE)
        # Nothing can be emitted between this look and the next: both are in one step of the loop.
        self._is_behind = len(page) == _PAGE
        if page:
            self._queue.extend(page)
            self._taken = page[-1].seq
        if not self._is_behind and (things := self._so_far()):
            self._queue.append(InProgress(things=things))
        return bool(self._queue)

    def __aiter__(self) -> Reader:
        return self

    async def __anext__(self) -> Delivery:
        told = await self.some(1)
        if not told:
            raise StopAsyncIteration
        return told[0]


class ListReader(_Waiting):
    """Receives changes of all sessions; of several changes of one session only the newest."""

    def __init__(self) -> None:
        super().__init__()
        self._changed: dict[str, LiveSession] = {}

    def put(self, session: LiveSession) -> None:
        if not self.is_closed:
            self._changed[session.id] = session
            self.wake()

    def __aiter__(self) -> ListReader:
        return self

    async def __anext__(self) -> SessionChanged:
        while not self._changed:
            if self.is_closed:
                raise StopAsyncIteration
            await self._wait()
        session_id = next(iter(self._changed))
        return SessionChanged(session=self._changed.pop(session_id))
