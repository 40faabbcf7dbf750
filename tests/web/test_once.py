from __future__ import annotations

import asyncio

import pytest

from dragoman.crew.hub import KeyUsedDifferently
from dragoman.web.once import Once
from web_stage import play


class Work:
    def __init__(self) -> None:
        self.count = 0
        self.fails = False
        self.go = asyncio.Event()

    async def __call__(self) -> int:
        self.count += 1
        await self.go.wait()
        if self.fails:
            raise ValueError("no")
        return self.count


def test_the_same_key_is_carried_out_once_even_at_the_same_time() -> None:
    async def story() -> None:
        once, work = Once(), Work()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(once.do("k", "request", work)) for _ in range(3)]
            await asyncio.sleep(0)
            work.go.set()
        assert [each.result() for each in tasks] == [1, 1, 1]
        assert await once.do("k", "request", work) == 1
        assert await once.do(None, "request", work) == 2

    play(story())


def test_another_request_with_the_same_key_is_refused() -> None:
    async def story() -> None:
        once, work = Once(), Work()
        work.go.set()
        await once.do("k", "request", work)
        with pytest.raises(KeyUsedDifferently):
            await once.do("k", "another", work)

    play(story())


def test_what_failed_may_be_tried_again() -> None:
    async def story() -> None:
        once, work = Once(), Work()
        work.go.set()
        work.fails = True
        with pytest.raises(ValueError, match="no"):
            await once.do("k", "request", work)
        work.fails = False
        assert await once.do("k", "request", work) == 2

    play(story())
