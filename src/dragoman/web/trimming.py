"""Giving free memory back: what many short sessions leave in pieces, the C library keeps until it is told.

Only glibc needs to be told, and can be. What is free inside Python's own arenas is not reached by it.
:func:`keep_together` is for a process that is ours alone: it changes how all of it gets its memory.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final

_SECONDS: Final = 20.0
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
_LARGE: Final = 1 << 18


def keep_together() -> bool:
    """One heap for all threads, and large blocks outside of it, so that what is free lies together.

    To be said before there are threads. Whether the C library has heard it.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library; Windows
        return False
    return bool(mallopt(_M_ARENA_MAX, 1)) and bool(mallopt(_M_MMAP_THRESHOLD, _LARGE))


async def trim_now_and_then(
    trim: Callable[[], object] | None = None, seconds: float = _SECONDS
) -> None:
    """Goes on until it is cancelled; ends at once where there is nothing to be done."""
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
