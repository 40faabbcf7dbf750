"""The standard streams, which may be closed at the start or lose their reader at any time."""

from __future__ import annotations

import os
import sys
from typing import TextIO, cast

from dragoman.errors import UsageError


def standard_output() -> TextIO:
    # sys.stdout is None if the shell closed it.
    stream = cast("TextIO | None", sys.stdout)
    if stream is None:
        raise UsageError("standard output is closed; use -o to write to a file")
    return stream


def terminal_size(stream: TextIO) -> os.terminal_size:
    """The size of the terminal behind a stream.

    The terminal is asked first: ``COLUMNS`` and ``LINES`` may belong to another one.
    """
    import shutil  # imports every kind of compression

    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return shutil.get_terminal_size()
    return size if size.columns > 0 and size.lines > 0 else shutil.get_terminal_size()


def reader_left() -> int:
    """End quietly, because the program that read our output has ended."""
    discard(sys.stdout)
    return 0


def discard(stream: TextIO) -> None:
    """Redirect a stream that has lost its reader to the null device."""
    # Otherwise Python's flush at exit would print an error.
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return  # not a real file, or already closed
