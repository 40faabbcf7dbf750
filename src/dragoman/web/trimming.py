"""Giving free memory back: what many short sessions leave in pieces, the C library keeps until it is told.

Only glibc needs to be told, and can be. What is free inside Python's own arenas is not reached by it.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final

_SECONDS: Final = 20.0


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
