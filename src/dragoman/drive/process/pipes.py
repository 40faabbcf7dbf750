"""The three pipes of a process, as asyncio reports them: chunks in, lines out, one end.

Two things end at their own time: the process, and its standard output, which a process it started may
hold open long after. The end is reported when both have ended; or when the process has, and its
output had its while to be read to the end; or when the output has, and the process stays on.
"""

from __future__ import annotations

import asyncio
import subprocess
from contextlib import suppress
from typing import Any, Final, cast

from dragoman.drive.links.link import Closed, Receive
from dragoman.drive.process.stderr import StderrTail
from dragoman.wire.content_length import ContentLengthSplitter
from dragoman.wire.lines import LineSplitter

LAST_WORDS_SECONDS: Final = 2.0
"""How long one of the two is waited for when the other has ended."""
_STDERR_SECONDS: Final = 0.25

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class Pipes(asyncio.SubprocessProtocol):
    """Hands lines to ``receive`` as they come, and calls ``closed`` once, after the last of them."""

    def __init__(
        self,
        receive: Receive,
        closed: Closed,
        *,
        stderr: StderrTail,
        max_line: int | None,
        is_framed: bool = False,
    ) -> None:
        """``is_framed``: each message has a ``Content-Length`` header, in both directions."""
        loop = asyncio.get_running_loop()
        self._loop = loop
        self._receive = receive
        self._closed = closed
        self._stderr = stderr
        self._splitter = ContentLengthSplitter(max_line) if is_framed else LineSplitter(max_line)
        self.is_framed = is_framed
        self._open = {_STDOUT, _STDERR}
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: asyncio.WriteTransport | None = None
        self._drained = asyncio.Event()
        self._drained.set()
        self.returncode: int | None = None
        self.exited: asyncio.Future[None] = loop.create_future()
        """The process has ended."""
        self.finished: asyncio.Future[None] = loop.create_future()
        """``closed`` has been called."""
        self.released: asyncio.Future[None] = loop.create_future()
        """All pipes are closed."""

    # From the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        pipe = cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(_STDIN))
        if pipe is not None:
            pipe.set_write_buffer_limits(high=0)  # so that we are notified when it is empty
        self._input = pipe

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self._stderr.receive(data)
        elif not self.finished.done() and (lines := self._splitter.receive(data)):
            self._receive(lines)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDIN:
            self._input = None
            self._drained.set()
        else:
            self._open.discard(fd)
            self._see_whether_it_is_over()

    def process_exited(self) -> None:
        if self._transport is not None:
            self.returncode = self._transport.get_returncode()
        self.exited.set_result(None)
        self._see_whether_it_is_over()

    def connection_lost(self, exc: Exception | None) -> None:
        self.released.set_result(None)

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()

    # From the process's owner.

    def pipe(self, fd: int) -> Any:
        """The file behind one of the pipes."""
        transport = self._transport and self._transport.get_pipe_transport(fd)
        return transport and transport.get_extra_info("pipe")

    def write(self, data: bytes) -> None:
        """Write soon, or, if the other end is closed, not at all."""
        if self._input is not None and not self._input.is_closing():
            self._input.write(data)

    async def drain(self) -> None:
        """Wait until all that was written is in the pipe, or will never be."""
        await self._drained.wait()

    @property
    def has_input(self) -> bool:
        """Whether the process still takes input."""
        return self._input is not None

    def close_input(self) -> None:
        """Let the process read to the end of what was written, and then the end."""
        if self._input is not None and not self._input.is_closing():
            self._input.close()

    def finish(self) -> None:
        """Report the end, once."""
        if self.finished.done():
            return
        if self._timer is not None:
            self._timer.cancel()
        self.finished.set_result(None)
        try:
            if lines := self._splitter.finish():
                self._receive(lines)
        finally:
            self._closed()

    def release(self) -> None:
        """Close all pipes, no matter which process holds the other ends. The process has ended."""
        self.finish()
        if self._input is not None:
            self._input.abort()
        if self._transport is not None:
            self._transport.close()

    def reap(self, seconds: float) -> None:
        """Wait here for a killed process: the event loop ends before it could report it."""
        process = self._transport and self._transport.get_extra_info("subprocess")
        if process is not None:
            with suppress(subprocess.TimeoutExpired):  # it is stuck in the kernel: given up
                process.wait(seconds)

    def _see_whether_it_is_over(self) -> None:
        has_exited = self.exited.done()
        if self.finished.done() or not (has_exited or _STDOUT not in self._open):
            return
        if has_exited and not self._open:
            self.finish()
            return
        is_only_stderr = has_exited and _STDOUT not in self._open
        when = self._loop.time() + (_STDERR_SECONDS if is_only_stderr else LAST_WORDS_SECONDS)
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self.finish)
