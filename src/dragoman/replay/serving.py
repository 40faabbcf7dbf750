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
from dragoman.harnesses.contract.playback import Performance, Playback, TimedMessage
from dragoman.harnesses.contract.transport import TurnTransport
from dragoman.model.messages import SessionStarted, TurnEnded
from dragoman.wire.lines import LineSplitter

_CHUNK: Final = 1 << 16


def playback_for(timed: Iterable[TimedMessage], role: str | None = None) -> Playback:
    """Return the playback of the harness with this transport, or of the one that made the recording.

    Raises ``UsageError`` if there is none.
    """
    started = (c.message.harness for c in timed if isinstance(c.message, SessionStarted))
    name = next(started, None)
    # Of several that have the transport, the recording's own comes first, then the one that is named like it.
    ranked = sorted(all_harnesses(), key=lambda each: (each.name != name, each.name != role))
    for harness in ranked if role is not None else all_harnesses():
        fits = harness.transport(role) if role is not None else name in (None, harness.name)
        if harness.playback is not None and fits:
            return harness.playback
    if role is not None:
        raise UsageError(f"there is no agent to be with the transport {role!r}")
    raise UsageError(f"no installed harness can play recordings of {name!r}")


def ends_after_a_turn(role: str) -> bool:
    """Whether the agent of this transport runs one prompt and ends."""
    found = (harness.transport(role) for harness in all_harnesses())
    return any(isinstance(transport, TurnTransport) for transport in found)


def run(
    timed: Sequence[TimedMessage],
    out: BinaryIO,
    sleep: Callable[[float], None] = time.sleep,
    role: str | None = None,
) -> int:
    """Print the output of a run and return its exit code."""
    for after, line in playback_for(timed, role).run(timed):
        if after > 0:
            sleep(after)
        out.write(line + b"\n")
        out.flush()
    ends = [
        each_timed.message.outcome
        for each_timed in timed
        if isinstance(each_timed.message, TurnEnded)
    ]
    return 0 if not ends or ends[-1] == "completed" else 1


def serve(timed: Sequence[TimedMessage], fd: int, out: BinaryIO, role: str | None = None) -> int:
    """Serve a client on ``fd`` until it disconnects, and return the exit code."""
    performance = playback_for(timed, role).serve(timed)
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
