import asyncio
from contextlib import AsyncExitStack

import pytest

from dragoman.drive.tasks import Tasks


def test_tasks_end_with_the_block() -> None:
    async def story() -> None:
        async with asyncio.timeout(5), Tasks() as tasks:
            task = tasks.create_task(asyncio.sleep(60))
            await asyncio.sleep(0)
        assert task.cancelled()

    asyncio.run(story())


def test_an_error_of_the_block_comes_out_as_it_is() -> None:
    async def story() -> None:
        async with asyncio.timeout(5), Tasks() as outer, Tasks() as inner:
            outer.create_task(asyncio.sleep(60))
            inner.create_task(asyncio.sleep(60))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(story())


def test_a_task_that_fails_ends_the_block_with_its_error() -> None:
    async def fail() -> None:
        raise ValueError("behind your back")

    async def story() -> None:
        async with asyncio.timeout(5), Tasks() as tasks:
            tasks.create_task(fail())
            await asyncio.sleep(60)

    with pytest.raises(ValueError, match="behind your back"):
        asyncio.run(story())


def test_a_block_that_is_cancelled_stays_cancelled() -> None:
    async def work() -> None:
        async with Tasks() as tasks:
            tasks.create_task(asyncio.sleep(60))
            await asyncio.sleep(60)

    async def story() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await work()

    asyncio.run(story())


def test_a_cancellation_that_passes_through_exit_stacks_never_becomes_its_own_context() -> None:
    """It did: `_fix_exception_context` of the outer stack followed that circle for ever."""

    async def cancelled() -> None:
        raise asyncio.CancelledError

    async def story() -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(Tasks())
            stack.push_async_callback(cancelled)
            raise OSError("the terminal is gone")

    with pytest.raises(asyncio.CancelledError) as raised:
        asyncio.run(story())

    contexts: list[BaseException] = []
    error = raised.value.__context__
    while error is not None and len(contexts) < 9:
        contexts.append(error)
        error = error.__context__
    assert [type(each) for each in contexts] == [OSError]
