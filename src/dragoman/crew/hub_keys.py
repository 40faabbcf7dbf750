"""Idempotency keys: the same request with the same key begins one session, be it asked twice or at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from weakref import WeakValueDictionary

from dragoman.crew.hub_live import Live
from dragoman.crew.hub_room import Room
from dragoman.crew.hub_shapes import KeyUsedDifferently


class Keys:
    """What the keys were used for; kept in the store."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def session(
        self, key: str | None, request: bytes, begin: Callable[[], Awaitable[Live]]
    ) -> AsyncGenerator[tuple[Live, bool]]:
        """The session that was begun with this key, or is now, and whether it is now.

        Others with the same key wait meanwhile.
        """
        if key is None:
            yield await begin(), True
            return
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            used = self._room.store.reading.key(key)
            if used is None:
                live = await begin()
                self._room.store.put_key(key, request, live.id, datetime.now(UTC))
                await self._room.stored()
            elif used.request != request:
                raise KeyUsedDifferently(key)
            else:
                live = self._room.get(used.session_id)
            yield live, used is None
