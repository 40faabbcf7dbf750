"""A command in a process group of its own, with the terminal if there is one. Not on Windows.

Signals that are meant to end us are passed on to it; whatever is left of its group at the end is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from types import FrameType
from typing import Any

assert sys.platform != "win32"

GRACE_SECONDS = 10.0
"""How long a command may take to end after its first signal."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_in_group(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a command to its end; its exit code, as a shell would give it. Raises ``OSError``."""
    with _Signals() as signals:  # before there is a child, so that none is ever left behind
        child = subprocess.Popen(command, env=dict(env), process_group=0)
        try:
            with _terminal_lent(child):
                signals.pass_on_to(child)
                code = child.wait()
        finally:
            _signal_group(child, signal.SIGKILL)
            child.wait()
    return code if code >= 0 else 128 - code


class _Signals:
    """Catches the signals that would end us, and gives them to the command."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._asked: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        for number in (*_ENDING, signal.SIGALRM):
            self._before[number] = signal.signal(number, self._received)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def pass_on_to(self, child: subprocess.Popen[bytes]) -> None:
        """From now on; what came before is passed on at once."""
        self._child = child
        if self._asked is not None:
            self._end(self._asked)

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self._child is None:
            self._asked = number
        elif number == signal.SIGALRM or self._asked is not None:
            _signal_group(self._child, signal.SIGKILL)  # its time is up, or the user insists
        else:
            self._asked = number
            self._end(number)

    def _end(self, number: int) -> None:
        assert self._child is not None
        _signal_group(self._child, number)
        signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)


@contextlib.contextmanager
def _terminal_lent(child: subprocess.Popen[bytes]) -> Generator[None]:
    """Ctrl-C and the keyboard belong to the command while it runs."""
    terminal = _terminal()
    if terminal is None:
        yield
        return
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # or taking it back would stop us
    try:
        os.tcsetpgrp(terminal, child.pid)
        _signal_group(child, signal.SIGCONT)  # in case it has asked for the keyboard already
        yield
    finally:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal, os.getpgrp())
        signal.signal(signal.SIGTTOU, before)


def _terminal() -> int | None:
    """Our terminal, if we are in its foreground."""
    try:
        number = sys.stdin.fileno()
        return number if os.isatty(number) and os.tcgetpgrp(number) == os.getpgrp() else None
    except (OSError, ValueError, AttributeError):
        return None


def _signal_group(child: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
