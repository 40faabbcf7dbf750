"""Whatever goes wrong in a policy or in asking a person is a denial."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.drive.approvals.policy import Decision, Policy, allow_all
from dragoman.model.messages import ApprovalRequested
from support.agents.queues import decided, open_queue, run_bounded


async def _cancels_itself(request: ApprovalRequested) -> str:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return "allow"


async def _raises_cancelled(request: ApprovalRequested) -> str:
    raise asyncio.CancelledError


async def _exits(request: ApprovalRequested) -> str:
    raise SystemExit(3)


async def _interrupts(request: ApprovalRequested) -> str:
    raise KeyboardInterrupt


async def _closes(request: ApprovalRequested) -> str:
    raise GeneratorExit


class _Odd(BaseException):
    def __str__(self) -> str:
        raise _Odd


async def _odd(request: ApprovalRequested) -> str:
    raise _Odd


class _Never:
    """Equal to everything, and to nothing."""

    def __eq__(self, other: object) -> bool:
        raise _Odd

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, request: ApprovalRequested) -> Any:
        return self

    def __bool__(self) -> bool:
        raise _Odd

    def __repr__(self) -> str:
        raise _Odd


def given(**facts: Any) -> Callable[[ApprovalRequested], Any]:
    return lambda request: Decision(**facts)


_BREAKING: dict[str, Callable[[ApprovalRequested], Any]] = {
    "cancels itself": _cancels_itself,
    "raises CancelledError": _raises_cancelled,
    "exits": _exits,
    "interrupts": _interrupts,
    "closes": _closes,
    "raises what cannot be shown": _odd,
    "is and returns what cannot be compared": _Never(),
    "takes no arguments": lambda: "allow",  # type: ignore[dict-item]
    "an odd word": given(word=_Never()),
    "a list for a word": given(word=["allow"]),
    "answers that are none": given(word="allow", answers=7),
    "answers to a command": given(word="allow", answers={"q": ["x"]}),
    "content that is none": given(word="allow", content="yes"),
    "content for a command": given(word="allow", content={"x": 1}),
    "a message that is none": given(word="allow", message=_Never()),
    "a name that is none": given(word="allow", by=3),
    "answered": given(word="answered"),
    "a future that was cancelled": lambda request: _cancelled_future(),
    "a generator": lambda request: (word for word in ("allow",)),
}


async def _cancelled_future() -> Any:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    future.cancel()
    return await future


@pytest.mark.parametrize("policy", _BREAKING.values(), ids=_BREAKING)
def test_whatever_goes_wrong_inside_a_policy_is_a_denial(policy: Policy) -> None:
    decision, [notice] = decided(policy, ask=allow_all)

    assert decision.word == "deny"
    assert notice.startswith("approval a: the policy")


@pytest.mark.parametrize("ask", _BREAKING.values(), ids=_BREAKING)
def test_whatever_goes_wrong_in_asking_is_a_denial(ask: Any) -> None:
    decision, [notice] = decided(ask=ask)

    assert decision.word == "deny"
    assert notice.startswith("approval a: ")


def test_a_policy_that_will_not_be_cancelled_is_left_behind() -> None:
    stop = threading.Event()

    async def stays(request: ApprovalRequested) -> str:
        while not stop.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return "allow"

    async def work() -> Decision:
        async with open_queue(stays, deadline_seconds=0.01) as watched:
            decision = await watched.decision()
        stop.set()
        return decision

    assert run_bounded(work) == Decision(word="deny", by="deadline")
