"""The standard streams, which a shell may have closed and a reader may leave at any time."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO, cast

from dragoman.errors import UsageError


def standard_output() -> TextIO:
    # Python has none if the shell closed it.
    stream = cast("TextIO | None", sys.stdout)
    if stream is None:
        raise UsageError("standard output is closed; -o names a file to write to")
    return stream


def terminal_size(stream: TextIO) -> os.terminal_size:
    """How large the terminal is that a stream goes to.

    The terminal itself knows best: ``COLUMNS`` and ``LINES`` may be those of another one.
    """
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return shutil.get_terminal_size()
    return size if size.columns > 0 and size.lines > 0 else shutil.get_terminal_size()


def reader_left() -> int:
    """The program that read our output has ended. That is its right, and no reason for noise."""
    discard(sys.stdout)
    return 0


def discard(stream: TextIO) -> None:
    """Nothing reads this stream any more: what is still written to it goes nowhere."""
    # Python flushes the standard streams once more when it ends, and would complain.
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return  # it is not a file, or closed already
