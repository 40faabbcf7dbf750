"""Signal handling: Ctrl-C, termination and resizing.

The first Ctrl-C interrupts the agent's turn, the second ends Dragoman. SIGTERM and SIGHUP count as the
second. Handlers run in the event loop, never in the middle of other code, and are restored afterwards.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

_ENDING: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Interrupts:
    """Counts Ctrl-C within a turn."""

    def __init__(self, quit: Callable[[], None]) -> None:
        self._quit = quit
        self._stop: Callable[[], None] | None = None
        self.count = 0

    def press(self) -> None:
        self.count += 1
        if self.count == 1 and self._stop is not None:
            self._stop()
        else:
            self._quit()

    def end(self) -> None:
        """End now, because of SIGTERM, SIGHUP or a lost terminal."""
        self.count += 2
        self._quit()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Generator[None]:
        """Within the block, the first Ctrl-C calls ``stop`` instead of quitting."""
        before, self._stop, self.count = self._stop, stop, 0
        try:
            yield
        finally:
            self._stop, self.count = before, 0


@contextmanager
def handling(presses: Interrupts, resized: Callable[[], None] | None = None) -> Generator[None]:
    """Handle signals in the running event loop within the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted: list[tuple[int, Callable[[], None]]] = [(signal.SIGINT, presses.press)]
    wanted += [(each, presses.end) for each in _ENDING]
    if resized is not None and sys.platform != "win32":
        wanted.append((signal.SIGWINCH, resized))
    with _handled(wanted):
        yield


@contextmanager
def _handled(wanted: Sequence[tuple[int, Callable[[], None]]]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number, _ in wanted}
    for number, call in wanted:
        _handle(loop, number, call)
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _handle(loop: asyncio.AbstractEventLoop, number: int, call: Callable[[], None]) -> None:
    try:
        loop.add_signal_handler(number, call)
    except NotImplementedError:  # Windows

        def handler(_number: int, _frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(call)

        signal.signal(number, handler)
