"""Giving free memory back: what many short sessions leave in pieces, the C library keeps until it is told.

Only glibc needs to be told, and can be. What is free inside Python's own arenas is not reached by it.
:func:`keep_together` and :func:`settle` are for a process that is ours alone: they change how all of it
gets its memory, and gets rid of it.
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
    """One heap for all threads, and large blocks outside of it, so that what is free lies together.

    To be said before there are threads. Whether the C library has heard it.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library; Windows
        return False
    return bool(mallopt(_M_ARENA_MAX, 1)) and bool(mallopt(_M_MMAP_THRESHOLD, _LARGE))


def settle() -> None:
    """What is there by now stays, and is not looked through for garbage again.

    Then little is left to look through, and that is done sooner: garbage does not pile up, and nobody waits
    for it to be found.
    """
    gc.collect()
    gc.freeze()


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
