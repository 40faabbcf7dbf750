"""The standard streams, which a shell may have closed and a reader may leave at any time."""

from __future__ import annotations

import os
import sys
from typing import TextIO, cast

from dragoman.errors import UsageError


def standard_output() -> TextIO:
    # Python has none if the shell closed it.
    stream = cast("TextIO | None", sys.stdout)
    if stream is None:
        raise UsageError("standard output is closed; -o names a file to write to")
    return stream


def reader_left() -> int:
    """Whoever read our output has gone. That is their right, and no reason for noise."""
    # Python flushes stdout once more when it ends, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
