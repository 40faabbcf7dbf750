"""Streams a saved session to one reader, including what other programs add to it.

A session without a writer is sent to its end, followed by ``event: end``. A session that is being written
is followed; after its writer has ended, it is watched a little longer, because another may resume it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from dragoman.web.archive_worker import Followed, SavedEntry
from dragoman.web.service import SessionService
from dragoman.web.streams import sse
from dragoman.web.streams.exporting import ExportedEvents
from dragoman.web.streams.streaming import Pipe

_AT_ONCE: Final = 200
_LOOK_SECONDS: Final = 0.3
LINGER_SECONDS: Final = 30.0
"""Seconds that a session is watched after its writer has ended."""


class SavedStream:
    """``to`` is an export format; None for entries."""

    def __init__(
        self, service: SessionService, followed: Followed, session_id: str, to: str | None
    ) -> None:
        self._service = service
        self._followed = followed
        self._events = ExportedEvents(to, session_id) if to is not None else None

    async def __call__(self, pipe: Pipe) -> None:
        try:
            async with self._service.broadcasts.watched(pipe):
                await pipe.write(sse.retry(self._service.settings.retry_ms))
                await self._tell(pipe)
        finally:
            self._followed.close()

    async def _tell(self, pipe: Pipe) -> None:
        now = asyncio.get_running_loop().time
        followed, events = self._followed, self._events
        heard_at, finished_at = now(), -LINGER_SECONDS
        while not (events and events.is_over) and not self._service.broadcasts.is_over:
            found = await followed.news(_AT_ONCE)
            if found:
                await pipe.write(self._framed(found))
                heard_at = now()
                continue
            if not followed.is_finished:
                finished_at = now()
            elif now() - finished_at >= LINGER_SECONDS:
                break
            if now() - heard_at >= self._service.settings.heartbeat_seconds:
                await pipe.write(sse.HEARTBEAT)
                heard_at = now()
            await asyncio.sleep(_LOOK_SECONDS)
        await pipe.write(events.finish() if events is not None else sse.frame(b"{}", event="end"))

    def _framed(self, found: Sequence[SavedEntry]) -> bytes:
        if self._events is not None:
            return self._events.encode(found)
        return b"".join(
            sse.frame(msgspec.json.encode(each), event="entry", event_id=each.seq) for each in found
        )
