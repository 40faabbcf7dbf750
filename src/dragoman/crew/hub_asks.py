"""Approvals that wait for a person: put before whoever looks, decided from elsewhere."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from dragoman.crew.hub_room import Room
from dragoman.crew.hub_shapes import PendingApproval
from dragoman.drive.policy import WORDS, Decision, Word
from dragoman.errors import UsageError
from dragoman.model.messages import ApprovalRequested

_NOBODY: Final = "nobody reads this session"


class Asks:
    """The :data:`~dragoman.drive.desk.Ask` of a hub's connection; the desk keeps the deadline."""

    def __init__(self, room: Room, deadline_seconds: float | None) -> None:
        self._room = room
        self._seconds = deadline_seconds
        self._open: dict[tuple[str, str], tuple[PendingApproval, asyncio.Future[Decision]]] = {}

    async def ask(self, request: ApprovalRequested) -> Decision:
        """Wait until somebody decides. The desk cancels it when it is settled, or too late."""
        asked_at = datetime.now(UTC)
        live = self._room.find(request.session_id)
        if live is None:
            return Decision(word="deny", by=_NOBODY)
        until = None if self._seconds is None else asked_at + timedelta(seconds=self._seconds)
        pending = PendingApproval(
            id=request.approval_id,
            session_id=live.id,
            request=request,
            asked_at=asked_at,
            deadline_at=until,
        )
        key = live.id, request.approval_id
        decided: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._room.store.put_approval(*key, asked_at, until)
        live.asked += 1
        self._room.changed(live)
        try:
            await self._room.stored()  # whoever sees the question sees that its session waits
            self._open[key] = pending, decided
            return await decided
        finally:
            if self._open.get(key, (pending,))[0] is pending:
                self._open.pop(key, None)
                self._room.store.drop_approval(*key)
            live.asked -= 1
            self._room.changed(live)

    def waiting(self, session_id: str | None) -> list[PendingApproval]:
        """Oldest first."""
        return [
            pending
            for pending, decided in self._open.values()
            if session_id in (None, pending.session_id) and not decided.done()
        ]

    def decide(
        self,
        approval_id: str,
        word: str,
        *,
        session_id: str,
        message: str | None = None,
        answers: dict[str, list[str]] | None = None,
        content: dict[str, Any] | None = None,
    ) -> bool:
        """Whether it was open, and is decided now. Raises :class:`UsageError` for an unknown word."""
        if word not in WORDS:
            raise UsageError(f"there is no decision {word!r}; known: {', '.join(WORDS)}")
        _, decided = self._open.get((session_id, approval_id), (None, None))
        if decided is None or decided.done():
            return False
        decided.set_result(
            Decision(
                word=cast("Word", word),
                message=message or None,
                answers=answers or {},
                content=content,
                by="person",
            )
        )
        return True
