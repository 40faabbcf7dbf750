"""Returns free memory to the system: many short sessions leave fragments that glibc keeps until asked.

Only glibc needs this and supports it. It does not reach free space in Python's own arenas.
:func:`keep_together` and :func:`settle` change memory management for the whole process, so call them
only in a process that is ours alone.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
from collections.abc import Callable
from typing import Final

_SECONDS: Final = 20.0
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
_LARGE: Final = 1 << 18


def keep_together() -> bool:
    """Use one heap for all threads, and map large blocks separately, to reduce fragmentation.

    Call it before starting threads. Returns whether the C library supports it.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library; Windows
        return False
    return bool(mallopt(_M_ARENA_MAX, 1)) and bool(mallopt(_M_MMAP_THRESHOLD, _LARGE))


def settle() -> None:
    """Exempt all current objects from garbage collection.

    The rest is small, so it is collected more often: garbage does not pile up, and collections are short.
    """
    gc.collect()
    gc.freeze()


async def trim_now_and_then(
    trim: Callable[[], object] | None = None, seconds: float = _SECONDS
) -> None:
    """Trim regularly until cancelled; returns at once where trimming is not supported."""
    trim = trim or _trimmer()
    while trim is not None:
        await asyncio.sleep(seconds)
        trim()


def _trimmer() -> Callable[[], object] | None:
    try:
        malloc_trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library; Windows
        return None
    return lambda: malloc_trim(0)
