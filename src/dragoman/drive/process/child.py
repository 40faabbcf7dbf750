"""A process we started, as a link: lines from its output, lines to its input, and no process left behind.

The process leads a session of its own, so that everything it starts can be ended with it and Ctrl-C
in our terminal is ours alone. It carries a tag in its environment, by which those that leave the
session are found again. Should we die, the kernel and the reaper end it
(:mod:`dragoman.drive.process.posix`, :mod:`dragoman.drive.process.reaper`).
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets as randomness
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from dragoman.drive.links.link import Closed, Exit, OpenLink, Receive
from dragoman.drive.process.pipes import LAST_WORDS_SECONDS, Pipes
from dragoman.drive.process.reaper import reaper
from dragoman.drive.process.reaping import TAG, Known
from dragoman.drive.process.stderr import StderrTail
from dragoman.drive.secrets import Secrets
from dragoman.errors import AgentError, AgentNotFound, InvalidWorkspace, ProcessExited
from dragoman.harnesses.contract.transport import Launch
from dragoman.model.secrets import secrets_in
from dragoman.wire.content_length import framed
from dragoman.wire.lines import DEFAULT_MAX_LINE

if sys.platform == "win32":
    from dragoman.drive.process import windows as system
else:
    from dragoman.drive.process import posix as system

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grace:
    """How long a process is given to end, before the next, less friendly, way. In seconds."""

    eof: float = 2.0
    """After the end of its input: to write its last words and its files."""
    terminate: float = 5.0
    """After SIGTERM."""
    kill: float = 2.0
    """After SIGKILL; a process that is still there then is stuck in the kernel, and given up."""
    left: float = 1.0
    """For those it left behind, between SIGTERM and SIGKILL."""


GRACE: Final = Grace()
_POLL_SECONDS: Final = 0.02
_RELEASE_SECONDS: Final = 1.0
_REAP_SECONDS: Final = 1.0


class Process:
    """A running process. Everything is called in the thread of the event loop it was started in."""

    def __init__(self, pipes: Pipes, known: Known, pid: int, stderr: StderrTail, grace: Grace):
        self._pipes = pipes
        self._known = known
        self._pid = pid
        self._stderr = stderr
        self._grace = grace
        self._stopping: asyncio.Future[Exit] | None = None

    @classmethod
    async def start(
        cls,
        launch: Launch,
        receive: Receive,
        closed: Closed,
        *,
        max_line: int | None = DEFAULT_MAX_LINE,
        secrets: Iterable[str] = (),
        grace: Grace = GRACE,
        is_framed: bool = False,
    ) -> Process:
        """Start it. The caller must call :meth:`stop`.

        Values of its environment that are named like secrets are hidden like ``secrets``. Raises
        :class:`AgentNotFound` if there is no such program, :class:`InvalidWorkspace` if there is no
        such directory, and :class:`ProcessExited` if it cannot be started for another reason.
        """
        env = {**os.environ, **(launch.env_for_root if _is_root() else {}), **launch.env}
        stderr = StderrTail(Secrets([*secrets, *secrets_in(env)]))
        tag = randomness.token_hex(8)
        env[TAG] = f"{outer}:{tag}" if (outer := os.environ.get(TAG)) else tag
        _check(launch, env)
        pipes = Pipes(receive, closed, stderr=stderr, max_line=max_line, is_framed=is_framed)
        reaper.announce(tag)
        is_started = False
        try:
            transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: pipes,
                *system.command_line(launch.argv),
                stdin=subprocess.PIPE if launch.stdin else subprocess.DEVNULL,
                cwd=launch.cwd,
                env=env,
                **system.start_options(),
            )
            is_started = True
        except (OSError, ValueError) as error:  # a ValueError: a NUL in an argument
            raise _explain(launch, error) from error
        finally:
            if not is_started:  # a cancelled start included: asyncio has killed the process
                system.kill_left(Known(tag))
                reaper.forget(tag)
        known = system.identify(transport.get_pid(), tag)
        reaper.record(known)
        system.enlarge(pipes.pipe(1))
        return cls(pipes, known, transport.get_pid(), stderr, grace)

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def is_supervised(self) -> bool:
        return system.is_supervised()

    @property
    def tag(self) -> str:
        """What it, and all that it starts, has in the environment."""
        return self._known.tag

    @property
    def exit(self) -> Exit | None:
        """None while it runs and has its pipes open."""
        code = self._pipes.returncode
        if code is not None:
            return Exit(code=code, reason=system.describe(code))
        if self._pipes.finished.done():
            return Exit(reason="closed its standard output")
        return None

    @property
    def stderr_tail(self) -> str:
        return self._stderr.tail()

    @property
    def stderr_text(self) -> str:
        """All that is kept of its standard error, up to 64 KiB, without secrets."""
        return self._stderr.text()

    def send(self, lines: Iterable[bytes]) -> None:
        self._pipes.write(framed(lines) if self._pipes.is_framed else b"".join(lines))

    def close_input(self) -> None:
        """Send nothing more: the process reads what was sent, and then the end of its input."""
        self._pipes.close_input()

    async def drained(self) -> None:
        await self._pipes.drain()

    async def finished(self) -> Exit:
        """Wait until no more lines will come. Bounded by the caller."""
        await asyncio.shield(self._pipes.finished)
        return self.exit or Exit()

    async def stop(self) -> Exit:
        """End it: the end of its input, SIGTERM, SIGKILL, with a while between them.

        Afterwards it is gone, and so is all that it has started; its last lines have been received
        and ``closed`` has been called. Several may call this at once, and again. The caller may be
        cancelled: stopping continues. Only the end of the event loop cuts it short, with SIGKILL.
        """
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._stop())
        return await asyncio.shield(self._stopping)

    async def _stop(self) -> Exit:
        try:
            await self._end_process()
            await self._end_left()
            # No process is left that holds its output, so its end is near.
            await _wait(self._pipes.finished, LAST_WORDS_SECONDS)
        except asyncio.CancelledError:
            system.kill_group(self._known)
            system.kill_left(self._known)
            self._pipes.reap(_REAP_SECONDS)
            raise
        finally:
            self._pipes.release()
        await _wait(self._pipes.released, _RELEASE_SECONDS)
        if self._pipes.exited.done():
            reaper.forget(self._known.tag)
            return self.exit or Exit()
        return Exit(reason="could not be killed")

    async def _end_process(self) -> None:
        exited = self._pipes.exited
        if self._pipes.has_input:
            self._pipes.close_input()
            if await _wait(exited, self._grace.eof):
                return
        elif exited.done():
            return
        system.terminate_group(self._known)
        if await _wait(exited, self._grace.terminate):
            return
        system.kill_group(self._known)
        if not await _wait(exited, self._grace.kill):
            _log.error("process %d does not end", self._pid)

    async def _end_left(self) -> None:
        """End what the process has started and left running."""
        for end, seconds in (
            (system.terminate_left, self._grace.left),
            (system.kill_left, self._grace.kill),
        ):
            if not await self._is_anybody_left(end, seconds):
                return
        _log.error("some of what process %d started does not end", self._pid)

    async def _is_anybody_left(self, end: Callable[[Known], None], seconds: float) -> bool:
        until = asyncio.get_running_loop().time() + seconds
        while system.is_anybody_left(self._known):
            end(self._known)
            if asyncio.get_running_loop().time() >= until:
                return True
            await asyncio.sleep(_POLL_SECONDS)
        return False


def open_process(
    launch: Launch,
    *,
    max_line: int | None = DEFAULT_MAX_LINE,
    secrets: Iterable[str] = (),
    grace: Grace = GRACE,
    is_framed: bool = False,
) -> OpenLink:
    """What opens a link by starting a process; ``is_framed`` for ``Content-Length`` headers."""
    values = tuple(secrets)

    async def open_link(receive: Receive, closed: Closed) -> Process:
        return await Process.start(
            launch,
            receive,
            closed,
            max_line=max_line,
            secrets=values,
            grace=grace,
            is_framed=is_framed,
        )

    return open_link


async def _wait(future: asyncio.Future[None], seconds: float) -> bool:
    await asyncio.wait([future], timeout=seconds)
    return future.done()


def _is_root() -> bool:
    if sys.platform == "win32":
        return False
    return os.geteuid() == 0


def _check(launch: Launch, env: Mapping[str, str]) -> None:
    """Report what is missing ourselves, before an intermediate program does so in its own words."""
    if launch.cwd is not None and not os.path.isdir(launch.cwd):
        what = "is not a directory" if os.path.exists(launch.cwd) else "is not there"
        raise InvalidWorkspace(f"cannot work in {launch.cwd}: it {what}")
    program = launch.argv[0]
    place = program
    if os.path.dirname(program):
        place = os.path.join(launch.cwd or "", program)
    if shutil.which(place, path=env.get("PATH")) is None:
        what = "may not be run" if os.path.isfile(place) else "is not on this machine"
        raise AgentNotFound(f"{program} {what}")


def _explain(launch: Launch, error: OSError | ValueError) -> AgentError:
    program = launch.argv[0]
    if isinstance(error, FileNotFoundError):
        return AgentNotFound(f"{program} is not on this machine, or what it needs to run is not")
    if isinstance(error, PermissionError):
        return AgentNotFound(f"{program} may not be run")
    if isinstance(error, OSError):
        why = error.strerror or str(error)
        if error.errno == errno.E2BIG:
            why = "its arguments are longer than this system allows"
        return ProcessExited(f"{program} cannot be started: {why}")
    return ProcessExited(f"{program} cannot be started: {error}")
