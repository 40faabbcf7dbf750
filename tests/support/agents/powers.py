"""Root without its powers over files, so that tests of what may not be read or written run as root, too.

Linux asks the thread's effective capabilities, not who it is. They are put down for a while and taken up again.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager

_VERSION_3 = 0x20080522
_OVER_FILES = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Words(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@contextmanager
def no_power_over_files() -> Generator[None]:
    """Permissions count in this block, whoever we are. Elsewhere than on Linux only root would notice."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = _Header(_VERSION_3, 0)
    words = (_Words * 2)()
    _check(libc.capget(ctypes.byref(header), words))
    before = words[0].effective
    words[0].effective = before & ~_OVER_FILES
    _check(libc.capset(ctypes.byref(header), words))
    try:
        yield
    finally:
        words[0].effective = before
        _check(libc.capset(ctypes.byref(header), words))


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), "the capabilities of this thread cannot be changed")
