"""What a process needs of a POSIX system: a group of its own, signals, big pipes, no orphans.

Everything that a system without ``fork`` lacks is in here; :mod:`dragoman.drive.process.windows` has the same
names. Nothing here waits.

**Dying with us.** On Linux an agent runs under a small supervisor (:mod:`dragoman.drive.process.supervising`), a
child subreaper that ends all that the agent has started when the agent ends, or when we do. Where that
cannot run (a frozen program has no interpreter), util-linux's ``setpriv`` asks the kernel for SIGTERM when
our thread dies (``PR_SET_PDEATHSIG``) and then becomes the agent. Code of ours between ``fork`` and ``exec``
(``preexec_fn``) would mean Python in the child of a process with threads. The reaper
(:mod:`dragoman.drive.process.reaper`) does it alone where there is neither.
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

from dragoman.drive.process import reaper, reaping, supervising
from dragoman.drive.process.reaping import Known

assert sys.platform != "win32"

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_PROBE_SECONDS = 2.0

HAS_PROC = os.path.exists("/proc/self/stat")


def start_options() -> dict[str, Any]:
    """For the start of a process: a session, and so a group, of its own."""
    return {"start_new_session": True}


def command_line(argv: Sequence[str]) -> tuple[str, ...]:
    """The command to run so that ``argv`` runs and dies with us."""
    if is_supervised():
        return (sys.executable, "-I", "-S", supervising.__file__, str(os.getpid()), *argv)
    return (*_dying_with_us(), *argv)


def is_supervised() -> bool:
    """Whether agents run under a child subreaper of ours."""
    return _has_supervisor()


@functools.cache
def _has_supervisor() -> bool:
    return reaper.can_run() and os.path.exists(supervising.__file__)


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
    """Enlarge a pipe's buffer to a megabyte; leave it alone if the system refuses."""
    if sys.platform == "linux":
        # A ValueError: it is closed already, the process was quick.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            fcntl.fcntl(pipe.fileno(), _F_SETPIPE_SZ, _PIPE_BYTES)


def terminate_group(known: Known) -> None:
    """Ask a running child and its group to end."""
    _signal_group(known, signal.SIGTERM)


def kill_group(known: Known) -> None:
    """End a running child and all that it has started."""
    if not is_supervised():
        _signal_group(known, signal.SIGKILL)
        return
    supervisor = reaping.read_stat(known.pid) if known.pid else None
    if supervisor is None or supervisor.start != known.start:
        return
    for stat in reaping.find([known]):
        if stat.pid != known.pid:
            reaping.send_signal(stat, signal.SIGKILL)
    # It stays a moment longer: it alone finds what is re-parented while we look.
    reaping.send_signal(supervisor, signal.SIGUSR1)


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
    """Ask the processes that are left to end."""
    _signal_left(known, signal.SIGTERM)


def kill_left(known: Known) -> None:
    """End the processes that are left."""
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
