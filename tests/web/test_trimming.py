from __future__ import annotations

import asyncio
import ctypes
import platform

import pytest

from dragoman.web import trimming
from dragoman.web.trimming import trim_now_and_then


def test_memory_is_given_back_again_and_again_until_the_end() -> None:
    async def story() -> int:
        count = 0
        often = asyncio.Event()

        def trim() -> None:
            nonlocal count
            count += 1
            if count == 3:
                often.set()

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            task = group.create_task(trim_now_and_then(trim, 0.001))
            await often.wait()
            task.cancel()
        return count

    assert asyncio.run(story()) >= 3


def test_where_the_library_cannot_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def library(_: object) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", library)

    asyncio.run(asyncio.wait_for(trim_now_and_then(), 20))

    assert trimming._trimmer() is None


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_glibc_can() -> None:
    trim = trimming._trimmer()

    assert trim is not None
    assert trim() in (0, 1)
