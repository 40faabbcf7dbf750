from __future__ import annotations

import asyncio
import ctypes
import platform
import subprocess
import sys

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
    def archive_worker(_: object) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", archive_worker)

    asyncio.run(asyncio.wait_for(trim_now_and_then(), 20))

    assert trimming._trimmer() is None
    assert not trimming.keep_together()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C archive_worker")
def test_glibc_can() -> None:
    trim = trimming._trimmer()

    assert trim is not None
    assert trim() in (0, 1)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C archive_worker")
def test_one_heap_is_enough_for_all_threads() -> None:
    program = """
import ctypes, re, threading
from dragoman.web.trimming import keep_together
print(keep_together())
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_size_t
found, all_are_there = [], threading.Barrier(4, timeout=20)
def work():
    found.append(malloc(600))
    all_are_there.wait()
threads = [threading.Thread(target=work) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join()
heap = re.search(r"^(\\w+)-(\\w+) .*\\[heap\\]", open("/proc/self/maps").read(), re.M)
first, last = (int(each, 16) for each in heap.groups())
print([first <= each < last for each in found])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.splitlines() == ["True", "[True, True, True, True]"]


def test_what_is_there_at_the_beginning_is_not_looked_through_again() -> None:
    program = """
import gc
from dragoman.web.trimming import settle
class Ring: pass
ring = Ring(); ring.itself = ring
del ring
settle()
print(gc.get_freeze_count() > 1000, len(gc.get_objects()) < 1000)
print(any(isinstance(each, Ring) for each in gc.get_objects()))
gc.unfreeze()
print(any(isinstance(each, Ring) for each in gc.get_objects()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.splitlines() == ["True True", "False", "False"]
