"""A real terminal that a test can look at: tmux, without anybody's configuration."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

SECONDS: Final = 60.0
needs_tmux: Final = pytest.mark.skipif(
    shutil.which("tmux") is None and not os.environ.get("CI"), reason="needs tmux"
)


class Terminal:
    """One window, with one program in it."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def screen(self, *, history: bool = False) -> str:
        """What is in sight now; with what has scrolled away, if wanted."""
        shown = self._tmux("capture-pane", "-p", *(["-S", "-"] if history else []))
        return "\n".join(line.rstrip() for line in shown.split("\n")).rstrip("\n")

    def wait_for(self, *words: str, gone: Sequence[str] = ()) -> str:
        """The screen as soon as it shows all these words, and none of those."""
        return self.wait(
            lambda screen: (
                all(word in screen for word in words) and not any(word in screen for word in gone)
            ),
            f"{words} without {gone}" if gone else str(words),
        )

    def wait(self, is_there: Callable[[str], bool], what: str, seconds: float = SECONDS) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if is_there(screen := self.screen()):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{what} never came:\n{self.screen()}")

    def press(self, *keys: str) -> None:
        """Keys by tmux's names for them."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def hang_up(self) -> None:
        """The window is closed."""
        self._tmux("kill-session")

    def _tmux(self, *words: str) -> str:
        return tmux(self._socket, *words)


def tmux(socket: Path, *words: str) -> str:
    done = subprocess.run(
        ["tmux", "-S", str(socket), *words],
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        check=True,
    )
    return done.stdout


@contextmanager
def terminal(
    command: Sequence[str],
    *,
    width: int,
    height: int = 24,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Generator[Terminal]:
    """Run a command in a window of this size; its exit code is shown when it has ended."""
    with tempfile.TemporaryDirectory(prefix="dragoman-tmux-") as folder:
        socket = Path(folder) / "socket"
        # NO_COLOR and the like may be set where the tests run, and are not what is tested.
        given = {"NO_COLOR": "", "TERM": "screen-256color", **(env or {})}
        words = ["env", *(f"{name}={value}" for name, value in given.items()), *command]
        line = f'{shlex.join(words)}; echo "exit code $?"; exec sleep 600'
        size = ["-x", str(width), "-y", str(height)]
        where = ["-c", str(cwd)] if cwd else []
        tmux(socket, "-f", os.devnull, "new-session", "-d", *size, *where, line)
        try:
            yield Terminal(socket)
        finally:
            subprocess.run(["tmux", "-S", str(socket), "kill-server"], capture_output=True)
