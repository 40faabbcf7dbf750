from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from dragoman.client.loop_thread import LoopThread


def test_one_task_enters_and_leaves_and_calls_run_between() -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def resource() -> AsyncGenerator[str]:
        async with asyncio.TaskGroup():  # which only the task that entered it may leave
            seen.append("in")
            yield "value"
            seen.append("out")

    thread = LoopThread(resource)
    assert thread.value == "value"

    async def work() -> str:
        return threading.current_thread().name

    assert thread.call(work()) == "dragoman"
    thread.close()
    assert seen == ["in", "out"]


def test_what_goes_wrong_on_entering_is_raised_and_the_thread_is_gone() -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[str]:
        raise ValueError("no")
        yield ""

    before = threading.active_count()
    with pytest.raises(ValueError, match="no"):
        LoopThread(broken)
    assert threading.active_count() == before


def test_items_come_one_by_one_and_an_error_in_between_is_raised() -> None:
    @asynccontextmanager
    async def nothing() -> AsyncGenerator[None]:
        yield

    async def items() -> AsyncIterator[int]:
        yield 1
        yield 2
        raise KeyError("three")

    thread = LoopThread(nothing)
    got: list[int] = []
    with pytest.raises(KeyError, match="three"):
        got.extend(thread.iterate(items()))
    assert got == [1, 2]
    thread.close()
