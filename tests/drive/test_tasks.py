import asyncio

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
