"""Approvals that wait for a person: shown to every reader, decided by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from dragoman.drive.approvals.policy import WORDS, Decision, Word
from dragoman.drive.approvals.queue import ApprovalQueue, checked_seconds, elsewhere
from dragoman.hub.live.registry import LiveRegistry
from dragoman.hub.live.state import LiveState
from dragoman.hub.shapes import PendingApproval, UnfitDecision
from dragoman.model.fitting import unfit
from dragoman.model.messages import ApprovalRequested

_NO_READER: Final = "no live session"


class HubApprovals:
    """Puts requests before people. The agents' queues hold what is open; nothing is kept here twice."""

    def __init__(
        self,
        registry: LiveRegistry,
        queues: Callable[[], Iterable[ApprovalQueue]],
        deadline_seconds: float | None,
    ) -> None:
        self._registry = registry
        self._queues = queues
        self._seconds = checked_seconds(deadline_seconds)
        self._names: dict[str, dict[str, tuple[int, str | None]]] = {}
        """The ids that were used in each session: in which connection, by which of its agents."""

    async def ask(self, request: ApprovalRequested) -> Decision:
        """Show a request and wait; :meth:`decide` ends that. The queue cancels it when it is settled, or too late."""
        asked_at = datetime.now(UTC)
        live = self._registry.find(request.session_id)
        if live is None:
            return Decision(word="deny", by=_NO_READER)
        until = None if self._seconds is None else asked_at + timedelta(seconds=self._seconds)
        name = self._name(live, request)
        view = PendingApproval(
            id=name,
            session_id=live.id,
            request=request,
            asked_at=asked_at,
            deadline_at=until,
        )
        self._registry.store.put_approval(live.id, name, asked_at, until)
        live.asked += 1
        self._registry.changed(live)
        try:
            await self._registry.stored()  # a reader who sees the question sees its session wait
            for queue in self._queues():
                queue.present(request, view)
            await elsewhere(request)
            return Decision(word="deny", by="default")  # only a cancellation ends the wait
        finally:
            self._registry.store.drop_approval(live.id, name)
            live.asked -= 1
            self._registry.changed(live)

    def _name(self, live: LiveState, request: ApprovalRequested) -> str:
        """The request's id; another one if that was used before, by another process or another agent.

        So an answer to an old question can never be taken for one to a new question.
        """
        asker = live.connection, request.session_id
        names = self._names.get(live.id)
        if names is None:
            names = self._names[live.id] = {}
            kind = "approval_requested"
            for entry in self._registry.store.reading.of_kind(live.number, live.id, kind):
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
        """What people can decide, oldest first."""
        found = [
            view for view, _ in self._shown() if session_id is None or view.session_id == session_id
        ]
        return sorted(found, key=lambda view: view.asked_at)

    def _shown(self) -> Iterator[tuple[PendingApproval, ApprovalQueue]]:
        for queue in self._queues():
            for each in queue.pending():
                if isinstance(each.view, PendingApproval):
                    yield each.view, queue

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

        Raises :class:`UnfitDecision` for a decision that does not fit the request; then it stays open.
        """
        wanted = session_id, approval_id
        found = [each for each in self._shown() if (each[0].session_id, each[0].id) == wanted]
        if not found:
            if word not in WORDS:
                raise UnfitDecision(f"unknown decision {word!r}; known: {', '.join(WORDS)}")
            return False
        pending, queue = found[0]
        wrong = unfit(pending.request, word, answers, content, offered_only=True)
        if wrong is not None:
            raise UnfitDecision(wrong)
        decision = Decision(
            word=cast("Word", word),
            message=message or None,
            answers=answers or {},
            content=content,
            by="person",
        )
        request = pending.request
        return queue.decide(request.approval_id, decision, session_id=request.session_id)
