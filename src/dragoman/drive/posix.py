"""What a process needs of a POSIX system: a group of its own, signals, big pipes, no orphans.

Everything that a system without ``fork`` lacks is in here; :mod:`dragoman.drive.windows` has the same
names. Nothing here waits.

**Dying with us.** On Linux an agent asks the kernel for SIGTERM when its parent dies
(``PR_SET_PDEATHSIG``). Only the process itself can ask, between ``fork`` and ``exec``; code of ours at
that point (``preexec_fn``) would mean Python in the child of a process with threads, and a slow
``fork`` of all our memory. So util-linux's ``setpriv`` asks and then becomes the agent: same process,
a millisecond. "Parent" means the *thread* that forked. That is the event loop's own thread, for
asyncio forks where it is asked to; when that thread ends, nobody reads the agent any more, and it may
go. Where there is no such ``setpriv`` the reaper does it alone (:mod:`dragoman.drive.reaper`).
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from dragoman.drive import reaping
from dragoman.drive.reaping import Known

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_PROBE_SECONDS = 2.0

HAS_PROC = os.path.exists("/proc/self/stat")


def start_options() -> dict[str, Any]:
    """For the start of a process: a session, and so a group, of its own."""
    return {"start_new_session": True}


def command_line(argv: Sequence[str]) -> tuple[str, ...]:
    """The command to run so that ``argv`` runs and dies with us."""
    return (*_dying_with_us(), *argv)


@functools.cache
def _dying_with_us() -> tuple[str, ...]:
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    if setpriv is None:
        return ()
    prefix = (setpriv, "--pdeathsig", "TERM", "--")
    try:  # other programs of that name do not know the option
        done = subprocess.run(
            [*prefix, setpriv, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return prefix if done.returncode == 0 else ()


def identify(pid: int, tag: str) -> Known:
    """What to know a child of ours by, just after its start."""
    stat = reaping.read_stat(pid)
    if stat is None or stat.parent != os.getpid():  # already gone, or there is no /proc
        return Known(tag, 0 if HAS_PROC else pid)
    return Known(tag, pid, stat.start)


def enlarge(pipe: Any) -> None:
    """Make room for a megabyte in a pipe; as it was if the system says no."""
    if sys.platform == "linux":
        # A ValueError: it is closed already, the process was quick.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            fcntl.fcntl(pipe.fileno(), _F_SETPIPE_SZ, _PIPE_BYTES)


def terminate_group(known: Known) -> None:
    """Ask a running child and its group to end."""
    _signal_group(known, signal.SIGTERM)


def kill_group(known: Known) -> None:
    """End a running child and its group."""
    _signal_group(known, signal.SIGKILL)


def _signal_group(known: Known, number: int) -> None:
    if not known.pid:
        return
    if HAS_PROC:
        stat = reaping.read_stat(known.pid)
        if stat is not None and stat.start != known.start:
            return
    with contextlib.suppress(OSError):
        os.killpg(known.pid, number)


def is_anybody_left(known: Known) -> bool:
    """Whether anything that the process started still runs, after its own end."""
    if HAS_PROC:
        return bool(reaping.find([known]))
    try:
        os.killpg(known.pid, 0)
    except OSError:
        return False
    return True


def terminate_left(known: Known) -> None:
    """Ask whoever is left of it to end."""
    _signal_left(known, signal.SIGTERM)


def kill_left(known: Known) -> None:
    """End whoever is left of it."""
    _signal_left(known, signal.SIGKILL)


def _signal_left(known: Known, number: int) -> None:
    if HAS_PROC:
        for stat in reaping.find([known]):
            reaping.send_signal(stat, number)
    else:
        _signal_group(known, number)


def describe(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
