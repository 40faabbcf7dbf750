"""A queue of approvals, and what it reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from dragoman.drive.approvals.policy import Decision, Policy, ask_always
from dragoman.drive.approvals.queue import ApprovalQueue
from dragoman.model.messages import ApprovalRequested, Notice

T = TypeVar("T")


def run_bounded(work: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(10):
            return await work()

    return asyncio.run(bounded())


def request_for(
    approval_id: str = "a", session_id: str | None = "s", **detail: Any
) -> ApprovalRequested:
    return ApprovalRequested(
        session_id=session_id,
        turn_id="t",
        approval_id=approval_id,
        kind="command",
        detail={"command": "make", **detail},
    )


class WatchedQueue:
    """A desk, and what it said."""

    def __init__(self, desk: ApprovalQueue, notices: list[Notice]) -> None:
        self.desk = desk
        self.notices = notices

    async def decision(self, request: ApprovalRequested | None = None) -> Decision:
        done: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self.desk.submit(request or request_for(), done.set_result)
        return await done


@asynccontextmanager
async def open_queue(policy: Policy = ask_always, **options: Any) -> AsyncGenerator[WatchedQueue]:
    notices: list[Notice] = []
    async with ApprovalQueue(policy, on_notice=notices.append, **options) as desk:
        yield WatchedQueue(desk, notices)


def decided(policy: Policy = ask_always, **options: Any) -> tuple[Decision, list[str]]:
    async def work() -> tuple[Decision, list[str]]:
        async with open_queue(policy, **options) as watched:
            decision = await watched.decision()
            assert watched.desk.pending() == []
            return decision, [notice.text for notice in watched.notices]

    return run_bounded(work)
