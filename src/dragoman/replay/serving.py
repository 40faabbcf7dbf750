"""Play a recording as the live agent would, on standard input and output, in real or scaled time.

The harness provides the protocol; this module provides the clock and the pipes. Input is read in a
thread, so that it never delays the next line that is due.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, Final

from dragoman.errors import UsageError
from dragoman.harnesses import all_harnesses
from dragoman.harnesses.contract.playback import Acting, Cue, Performance
from dragoman.model.messages import SessionStarted, TurnEnded
from dragoman.wire.lines import LineSplitter

_CHUNK: Final = 1 << 16


def acting_for(cues: Iterable[Cue]) -> Acting:
    """Return the playback of the harness that made this recording. Raises ``UsageError`` if there is none."""
    started = (c.message.harness for c in cues if isinstance(c.message, SessionStarted))
    name = next(started, None)
    for harness in all_harnesses():
        if harness.acting is not None and name in (None, harness.name):
            return harness.acting
    raise UsageError(f"no installed harness can play recordings of {name!r}")


def run(cues: Sequence[Cue], out: BinaryIO, sleep: Callable[[float], None] = time.sleep) -> int:
    """Print the output of a run and return its exit code."""
    for after, line in acting_for(cues).run(cues):
        if after > 0:
            sleep(after)
        out.write(line + b"\n")
        out.flush()
    ends = [cue.message.outcome for cue in cues if isinstance(cue.message, TurnEnded)]
    return 0 if not ends or ends[-1] == "completed" else 1


def serve(cues: Sequence[Cue], fd: int, out: BinaryIO) -> int:
    """Serve a client on ``fd`` until it disconnects, and return the exit code."""
    performance = acting_for(cues).serve(cues)
    lines: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_listen, args=(fd, lines), daemon=True).start()
    while True:
        line = _next_line(lines, performance)
        if line is None:
            return 0
        if line:
            performance.receive_line(line, time.monotonic())
        for each in performance.lines_to_send(time.monotonic()):
            out.write(each + b"\n")
        out.flush()


def _next_line(lines: queue.Queue[bytes | None], performance: Performance) -> bytes | None:
    """Return the client's next line; empty if something is due first, None if the client is gone."""
    due = performance.due_at()
    try:
        if due is None:
            return lines.get()
        return lines.get(timeout=max(0.0, due - time.monotonic()))
    except queue.Empty:
        return b""


def _listen(fd: int, lines: queue.Queue[bytes | None]) -> None:
    splitter = LineSplitter()
    try:
        while chunk := os.read(fd, _CHUNK):
            for line in splitter.receive(chunk):
                if isinstance(line, bytes):
                    lines.put(line)
    finally:
        lines.put(None)
