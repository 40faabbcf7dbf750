"""A process of our own program that works beside us, and is gone when we are.

It is given a request on its standard input, which then stays open: when that ends, so does the
process, in the middle of whatever it does. It ends with us, even after ``kill -9``, for the pipe is
closed by the system. On Linux the kernel ends it, too (``PR_SET_PDEATHSIG``; our own code runs in it,
so it asks for that itself). What it works on must bear that at any time.

The last line that it prints is its answer. It runs behind everything else (``nice``), and Ctrl-C in our
terminal is not for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Final

import msgspec

WATCH: Final = "watch"
"""The thread that ends a helper with its parent. It holds no lock, so a process with it can be copied."""
_NICE: Final = 5
_ENDING_SECONDS: Final = 2.0
_PR_SET_PDEATHSIG: Final = 1


class Helper:
    """Our end of the pipe. Raises ``OSError`` if the helper cannot be started."""

    def __init__(self, module: str, request: bytes) -> None:
        """``module`` calls :func:`begin`. The request is one line."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],  # -P: do not import from the current directory
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._over = threading.Event()
        self.answer = b""
        """The last line that it has printed, when it is over."""
        self._lock = threading.Lock()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it is gone already: that is seen soon enough
            self._process.stdin.write(request + b"\n")
            self._process.stdin.flush()
        threading.Thread(target=self._read, name="helper", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self, seconds: float) -> bool:
        """Wait no longer than this for its end; whether it is over."""
        return self._over.wait(seconds)

    def end(self) -> None:
        """End it, wherever it is."""
        self._hang_up()
        self._process.terminate()
        if not self.wait(_ENDING_SECONDS):
            self._process.kill()
            self.wait(_ENDING_SECONDS)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as out:
            for line in out:
                self.answer = line.strip() or self.answer
        self._process.wait()
        self._hang_up()
        self._over.set()

    def _hang_up(self) -> None:
        assert self._process.stdin is not None
        with self._lock, contextlib.suppress(OSError):
            self._process.stdin.close()


def can_help() -> bool:
    """Whether there is an interpreter that can run a module of ours."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def begin() -> bytes:
    """In the helper: the request. From here on we end when our parent does."""
    if sys.platform != "win32":
        os.nice(_NICE)
    _die_with_parent()
    request = b""
    # From the descriptor itself: a thread that sleeps in a buffered file would spoil our own end.
    while not request.endswith(b"\n") and (piece := os.read(0, 1 << 16)):
        request += piece
    threading.Thread(target=_watch, name=WATCH, daemon=True).start()
    return request


def encode(value: object) -> bytes:
    """A value as ASCII on one line, so that names which are no UTF-8 come through."""
    return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def answer(line: bytes) -> None:
    """In the helper: the result, on one line."""
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _watch() -> None:
    while os.read(0, 1 << 16):
        continue
    os._exit(0)


def _die_with_parent() -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # then the pipe alone does it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
