"""A program at a terminal that a test holds by its other end: it can be read, typed at, and taken away."""

from __future__ import annotations

import os
import re
import select
import struct
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

SECONDS: Final = 60.0
_CODE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")


class Program:
    """Whatever runs at the terminal; it is the leader of its session, as a login shell would be."""

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self._fd = fd
        self.raw = b""

    @property
    def text(self) -> str:
        """Everything it has written, without colours and the like."""
        return _CODE.sub("", self.raw.decode("utf-8", "replace"))

    def wait_for(self, *words: str, seconds: float = SECONDS) -> str:
        """What it has written, as soon as these words are in it, one after the other."""
        deadline = time.monotonic() + seconds
        pattern = re.compile(".*?".join(map(re.escape, words)), re.DOTALL)
        while not pattern.search(self.text):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{words} never came: {self.text}")
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    self.raw += os.read(self._fd, 65536)
                except OSError:
                    raise AssertionError(f"it ended before {words}: {self.text}") from None
        return self.text

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def type_until(self, text: str, *words: str) -> str:
        """Type this until it has these words for an effect: keys that come too early answer nothing."""
        for _ in range(int(SECONDS)):
            self.type(text)
            with suppress(TimeoutError):
                return self.wait_for(*words, seconds=1)
        raise AssertionError(f"{words} never came: {self.text}")

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._fd)
        self._fd = -1

    def ended(self) -> int:
        """Wait for its end; its exit code, negative for a signal."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            if self._fd >= 0 and select.select([self._fd], [], [], 0.05)[0]:
                with suppress(OSError):
                    self.raw += os.read(self._fd, 65536)
            else:
                time.sleep(0.05)
        raise AssertionError("it goes on and on")

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        if self.pid:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)


@contextmanager
def at_a_terminal(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    width: int = 80,
    height: int = 24,
) -> Generator[Program]:
    import fcntl
    import pty
    import termios

    given = {**os.environ, "TERM": "xterm-256color", "PYTHONWARNINGS": "ignore", **(env or {})}
    if "NO_COLOR" not in (env or {}):
        given.pop("NO_COLOR", None)
    pid, fd = pty.fork()
    if pid == 0:
        try:
            if cwd is not None:
                os.chdir(cwd)
            os.execvpe(command[0], list(command), given)
        finally:
            os._exit(127)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    program = Program(pid, fd)
    try:
        yield program
    finally:
        program.close()


def left_of(home: Path) -> list[int]:
    """The processes that still run with this home directory of the agent."""
    found: list[int] = []
    mark = f"CODEX_HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_zombie = b") Z " in (folder / "stat").read_bytes()
            if mark in (folder / "environ").read_bytes().split(b"\0") and not is_zombie:
                found.append(int(folder.name))
    return found


def all_gone(home: Path) -> bool:
    """Whether they end, in time."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if not left_of(home):
            return True
        time.sleep(0.1)
    return False
