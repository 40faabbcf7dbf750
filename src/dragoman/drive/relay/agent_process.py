"""The agent of a relay: its process below our supervisor, its pipes without blocking, its end.

The relay process imports this module: standard library only, so that it starts quickly.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

assert sys.platform != "win32"

EOF_SECONDS: Final = 2.0
TERM_SECONDS: Final = 5.0
KILL_SECONDS: Final = 5.0
_CHUNK: Final = 1 << 20
_MOST_WAITING: Final = 64 << 20
_NOT_RUN: Final = 126


class AgentProcess:
    """A running agent. Nothing here waits."""

    def __init__(self, command: Sequence[str], *, cwd: str, supervisor: str | None) -> None:
        """``supervisor`` is the program that leaves nothing behind that the agent starts, where there is one."""
        argv = list(command)
        if supervisor is not None:
            argv = [sys.executable, "-I", "-S", supervisor, str(os.getpid()), *argv]
        stdin, self._input = os.pipe()
        self.output, stdout = os.pipe()
        self.errors, stderr = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            _become(argv, cwd, (stdin, stdout, stderr))
        for each in (stdin, stdout, stderr):
            os.close(each)
        for each in (self._input, self.output, self.errors):
            os.set_blocking(each, False)
        self._is_supervised = supervisor is not None
        self._waiting: deque[memoryview] = deque()
        self._waiting_bytes = 0
        self._closes_input = False
        self._stops_at: float | None = None
        self._signals = [
            (EOF_SECONDS, signal.SIGTERM),
            (TERM_SECONDS, signal.SIGUSR1 if self._is_supervised else signal.SIGKILL),
            (KILL_SECONDS, signal.SIGKILL),
        ]
        self.status: int | None = None
        """The exit code, negative for a signal; None while it runs."""

    @property
    def input(self) -> int | None:
        """The descriptor to wait for, if there is something to write."""
        return self._input if self._waiting and self._input >= 0 else None

    @property
    def is_full(self) -> bool:
        """Whether it reads so little that no more can be kept for it."""
        return self._waiting_bytes > _MOST_WAITING

    @property
    def takes_input(self) -> bool:
        return self._input >= 0 and not self._closes_input and self.status is None

    def write(self, line: bytes) -> None:
        """Write this as soon as it is read."""
        self._waiting.append(memoryview(line))
        self._waiting_bytes += len(line)
        self.flush()

    def flush(self) -> None:
        """Write as much as fits."""
        while self._waiting and self._input >= 0:
            first = self._waiting[0]
            try:
                count = os.write(self._input, first)
            except BlockingIOError:
                return
            except OSError:  # it has closed its input, and reads nothing more
                self._give_up_input()
                return
            self._waiting_bytes -= count
            if count == len(first):
                self._waiting.popleft()
            else:
                self._waiting[0] = first[count:]
        if self._closes_input and not self._waiting:
            self._give_up_input()

    def close_input(self) -> None:
        """Close its standard input once all is written."""
        self._closes_input = True
        self.flush()

    def read(self, descriptor: int) -> bytes | None:
        """Return what it has written, empty at the end, and None if there is nothing now."""
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def stop(self, now: float | None = None) -> None:
        """Begin to end it: the end of its input, then signals (:meth:`tick`)."""
        if self._stops_at is None:
            self._stops_at = (time.monotonic() if now is None else now) + self._signals[0][0]
            self._waiting.clear()
            self._waiting_bytes = 0
            self.close_input()

    def tick(self, now: float) -> None:
        """Send the next signal if its time has come, and see whether the process has ended."""
        if self.status is None:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.status = os.waitstatus_to_exitcode(status)
        if self.status is None and self._stops_at is not None and now >= self._stops_at:
            if self._signals:
                _, number = self._signals.pop(0)
                with suppress(ProcessLookupError):
                    os.kill(self.pid, number)
            self._stops_at = now + (self._signals[0][0] if self._signals else KILL_SECONDS)

    def _give_up_input(self) -> None:
        os.close(self._input)
        self._input = -1
        self._waiting.clear()
        self._waiting_bytes = 0


def _become(argv: list[str], cwd: str, streams: tuple[int, int, int]) -> None:
    """In the child: run the command. Never returns."""
    try:
        os.setsid()
        for number, each in enumerate(streams):
            os.dup2(each, number)
        os.chdir(cwd)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(argv[0], argv)
    except OSError as problem:
        os.write(2, f"{argv[0]}: {problem.strerror}\n".encode())
    finally:
        os._exit(_NOT_RUN)
