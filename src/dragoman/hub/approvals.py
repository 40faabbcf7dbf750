"""Approvals that wait for a person: put before whoever looks, decided from elsewhere."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from dragoman.drive.approvals.policy import WORDS, Decision, Word
from dragoman.drive.approvals.queue import checked_seconds
from dragoman.hub.live import Live
from dragoman.hub.registry import Room
from dragoman.hub.shapes import PendingApproval, UnfitDecision
from dragoman.model.fitting import unfit
from dragoman.model.messages import ApprovalRequested

_NOBODY: Final = "nobody reads this session"


class Asks:
    """The :data:`~dragoman.drive.approvals.queue.Ask` of a hub's connection; the desk keeps the deadline."""

    def __init__(self, room: Room, deadline_seconds: float | None) -> None:
        self._room = room
        self._seconds = checked_seconds(deadline_seconds)
        self._names: dict[str, dict[str, tuple[int, str | None]]] = {}
        """The ids that were used in each session: in which connection, by which of its agents."""
        self._open: dict[tuple[str, str], tuple[PendingApproval, asyncio.Future[Decision]]] = {}

    async def ask(self, request: ApprovalRequested) -> Decision:
        """Wait until somebody decides. The desk cancels it when it is settled, or too late."""
        asked_at = datetime.now(UTC)
        live = self._room.find(request.session_id)
        if live is None:
            return Decision(word="deny", by=_NOBODY)
        until = None if self._seconds is None else asked_at + timedelta(seconds=self._seconds)
        name = self._name(live, request)
        pending = PendingApproval(
            id=name,
            session_id=live.id,
            request=request,
            asked_at=asked_at,
            deadline_at=until,
        )
        key = live.id, name
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

    def _name(self, live: Live, request: ApprovalRequested) -> str:
        """The request's id; another one if that was used before, by another process or another agent.

        So an answer to an old question can never be taken for one to a new question.
        """
        asker = live.connection, request.session_id
        names = self._names.get(live.id)
        if names is None:
            names = self._names[live.id] = {}
            kind = "approval_requested"
            for entry in self._room.store.reading.of_kind(live.number, live.id, kind):
                asked = entry.message
                if isinstance(asked, ApprovalRequested) and entry.connection != asker[0]:
                    names[asked.approval_id] = entry.connection, asked.session_id
        name, number = request.approval_id, 0
        while names.get(name, asker) != asker:
            # A connection's number is never used again, so neither is the name.
            name = f"{request.approval_id}~{asker[0]}" + (f".{number}" if number else "")
            number += 1
        names[name] = asker
        return name

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
        """Whether it was open, and is decided now.

        Raises :class:`UnfitDecision` for what is no answer to it; then it stays open.
        """
        pending, decided = self._open.get((session_id, approval_id), (None, None))
        if pending is None or decided is None or decided.done():
            if word not in WORDS:
                raise UnfitDecision(f"unknown decision {word!r}; known: {', '.join(WORDS)}")
            return False
        wrong = unfit(pending.request, word, answers, content, offered_only=True)
        if wrong is not None:
            raise UnfitDecision(wrong)
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
