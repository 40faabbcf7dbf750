"""Idempotency keys: the same request with the same key begins one session, or one turn, be it asked twice or at
once, or again after we were killed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from weakref import WeakValueDictionary

from dragoman.errors import DragomanError
from dragoman.hub.live.registry import LiveRegistry
from dragoman.hub.live.state import LiveState
from dragoman.hub.shapes import KeyUsedDifferently


class Keys:
    """What the keys were used for; kept in the store."""

    def __init__(self, registry: LiveRegistry) -> None:
        self._registry = registry
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def session(
        self, key: str | None, request: bytes, begin: Callable[[], Awaitable[LiveState]]
    ) -> AsyncGenerator[tuple[LiveState, bool]]:
        """The session that was started with this key, or is now, and whether it is now.

        Others with the same key wait meanwhile. That the key is used is stored when the block has stored
        something: so a prompt that is accepted in there is noted in the same commit.
        """
        if not key:
            yield await begin(), True
            return
        async with self._lock(key):
            used = self._used(key, request)
            if used is None:
                live = await begin()
                self._registry.store.put_key(key, _sum(request), live.id, datetime.now(UTC))
            else:
                live = self._registry.get(used)
            yield live, used is None
            await self._registry.stored()

    async def turn(
        self,
        key: str | None,
        request: bytes,
        begin: Callable[[str | None], Awaitable[str | None]],
    ) -> str | None:
        """The id of the turn that was started with this key, or is now. A failed request may be repeated.

        ``begin`` is given the name under which the key is stored, and stores that it is used before anything
        is started; after a crash the key is used for what became of the prompt.
        """
        if not key:
            return await begin(None)
        name = f"turn {key}"
        async with self._lock(name):
            used = self._used(name, request)
            if used is None:
                self._registry.store.put_key(name, _sum(request), "", datetime.now(UTC))
                try:
                    used = await begin(name) or ""
                except DragomanError:
                    self._registry.store.drop_key(name)
                    with suppress(DragomanError):  # the first error is the one to report
                        await self._registry.stored()
                    raise
                self._registry.store.name_key(name, used)
                await self._registry.stored()
            return used or None

    async def once(
        self, key: str | None, request: bytes, make: Callable[[], Awaitable[str]]
    ) -> str:
        """What was made with this key, or is now, as text. A failed request may be repeated."""
        if not key:
            return await make()
        name = f"once {key}"
        async with self._lock(name):
            used = self._used(name, request)
            if used is None:
                used = await make()
                self._registry.store.put_key(name, _sum(request), used, datetime.now(UTC))
                await self._registry.stored()
            return used

    def _lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())

    def _used(self, key: str, request: bytes) -> str | None:
        """What was started with it. Raises :class:`KeyUsedDifferently`."""
        used = self._registry.store.reading.key(key)
        if used is not None and used.request != _sum(request):
            raise KeyUsedDifferently(key.removeprefix("turn ").removeprefix("once "))
        return used.session_id if used is not None else None


def _sum(request: bytes) -> bytes:
    """Only compared for equality, and it may contain images."""
    return hashlib.sha256(request).digest()
