"""What a process needs of Windows: the names of :mod:`dragoman.drive.process.posix`, as far as they go.

A process gets a group of its own, so that Ctrl-C in our console is not for it, and is ended by itself:
there are no groups to signal. Who is left behind is not known here.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Sequence
from typing import Any

from dragoman.drive.process.reaping import Known

_CREATE_NEW_PROCESS_GROUP = 0x200


def start_options() -> dict[str, Any]:
    """For the start of a process: a group of its own."""
    return {"creationflags": _CREATE_NEW_PROCESS_GROUP}


def command_line(argv: Sequence[str]) -> tuple[str, ...]:
    """The command to run."""
    return tuple(argv)


def is_supervised() -> bool:
    """This system has no child subreapers."""
    return False


def identify(pid: int, tag: str) -> Known:
    """What to know a child of ours by, just after its start."""
    return Known(tag, pid)


def enlarge(pipe: Any) -> None:
    """Pipes are as big as they are."""


def terminate_group(known: Known) -> None:
    """Ask a running child to end; this system ends it at once."""
    with contextlib.suppress(OSError):
        os.kill(known.pid, signal.SIGTERM)


def kill_group(known: Known) -> None:
    """End a running child."""
    terminate_group(known)


def is_anybody_left(known: Known) -> bool:
    """None that are known."""
    return False


def terminate_left(known: Known) -> None:
    """No process is known to be left."""


def kill_left(known: Known) -> None:
    """No process is known to be left."""


def describe(code: int) -> str:
    """An exit code in words."""
    return f"exited with status {code}"
