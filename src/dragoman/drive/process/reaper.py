"""No process is left behind: a small one beside ours that outlives us just long enough to see to it.

It starts with the first agent and is informed of what we start and what has ended; when we are gone, be it
by ``kill -9``, it stops what is left. What it may touch, and how it knows, is in
:mod:`dragoman.drive.process.reaping`, which is also the program it runs.

Each process of ours has one, whatever the number of threads and event loops in it. A process
that we fork has none until it starts an agent itself. Where there is no ``/proc`` (macOS, Windows) a
number that is used again cannot be distinguished from the process it belonged to, and in a frozen program
there is no interpreter to run: there nothing is started, and an agent is left to notice the end of
its standard input.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading

from dragoman.drive.process import reaping
from dragoman.drive.process.reaping import Known

_log = logging.getLogger(__name__)
_ATTEMPTS = 2


class Reaper:
    """Our end of the reaper. May be used from every thread; never blocks and never raises."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Known] = {}
        self._input = -1
        self._pid = 0
        self._can_run = can_run()

    @property
    def pid(self) -> int:
        """0 while it does not run."""
        return self._pid

    @property
    def known(self) -> list[Known]:
        """What runs, or is about to."""
        with self._lock:
            return list(self._known.values())

    def announce(self, tag: str) -> None:
        """A process with this tag is about to be started."""
        self._tell(f"+{tag}\n", Known(tag))

    def record(self, known: Known) -> None:
        """It was started."""
        self._tell(f"={known.tag} {known.pid} {known.start}\n", known)

    def forget(self, tag: str) -> None:
        """The process has ended, and so have its descendants."""
        with self._lock:
            if self._known.pop(tag, None):
                self._write(f"-{tag}\n")

    def close(self) -> None:
        """Let it go: it stops what is still recorded, and exits."""
        with self._lock:
            self._drop()
            self._known.clear()

    def leave_to_parent(self) -> None:
        """We are a fork of the process that it serves: close our copies."""
        self._lock = threading.Lock()  # a thread that is not here may have held it
        self._known = {}
        self._pid = 0
        if self._input >= 0:
            with contextlib.suppress(OSError):
                os.close(self._input)
        self._input = -1

    def _tell(self, line: str, known: Known) -> None:
        if self._can_run:
            with self._lock:
                self._known[known.tag] = known
                self._write(line)

    def _write(self, line: str) -> None:
        data = line.encode("ascii")
        for _ in range(_ATTEMPTS):
            if self._input < 0:
                if not self._start():
                    return
                data = b"".join(
                    f"={one.tag} {one.pid} {one.start}\n".encode("ascii")
                    for one in self._known.values()
                )
            try:
                os.write(self._input, data)
            except OSError as error:  # killed, or stuck with a full pipe: another takes its place
                _log.warning("the reaper does not listen (%s); another is started", error)
                self._drop()
            else:
                return

    def _start(self) -> bool:
        read, write = os.pipe()
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", reaping.__file__, str(os.getpid())],
                stdin=read,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,  # Ctrl-C in our terminal is not for it
            )
        except OSError as error:
            os.close(write)
            self._can_run = False
            _log.warning("no reaper can be started, so agents may outlive a crash: %s", error)
            return False
        finally:
            os.close(read)
        if sys.platform != "win32":
            os.set_blocking(write, False)
        self._input = write
        self._pid = process.pid
        # It is meant to be there when we are not, so it is not waited for.
        process.returncode = 0
        return True

    def _drop(self) -> None:
        if self._input >= 0:
            os.close(self._input)
            self._input = -1
            if sys.platform != "win32":
                with contextlib.suppress(OSError):
                    os.waitpid(self._pid, os.WNOHANG)
            self._pid = 0


def can_run() -> bool:
    """Whether there is what it needs: an interpreter to run it, and ``/proc`` to know by."""
    return bool(
        sys.platform == "linux"
        and sys.executable
        and not getattr(sys, "frozen", False)
        and os.path.exists("/proc/self/stat")
        and os.path.exists(reaping.__file__)
    )


reaper = Reaper()
"""The one of this process."""

if sys.platform != "win32":
    os.register_at_fork(after_in_child=reaper.leave_to_parent)
