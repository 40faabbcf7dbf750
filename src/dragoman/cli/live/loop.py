"""Shows one turn on a view: messages, the passing of time, and Ctrl-C.

It needs only the small ``Steerable`` interface of a session, so that tests can replace the agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, Protocol, cast

from dragoman.cli.live.live import LiveView
from dragoman.cli.signals import Interrupts, handling
from dragoman.errors import AgentError
from dragoman.model.messages import Message, Outcome, TurnEnded

EXIT_CODES: Final[dict[Outcome, int]] = {"completed": 0, "failed": 1, "interrupted": 130}
QUIT: Final = 130
_FRAME_SECONDS: Final = 0.1


class Steerable(Protocol):
    """The part of a session that showing a turn needs."""

    @property
    def id(self) -> str: ...
    async def interrupt(self) -> object: ...
    async def steer(self, text: str) -> None: ...


def run_async(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command's coroutine; returns its exit code, or 130 after quitting."""
    try:
        return asyncio.run(work())
    except (KeyboardInterrupt, asyncio.CancelledError):
        return QUIT
    except BaseExceptionGroup as several:
        raise _first(several) from None


@asynccontextmanager
async def beside() -> AsyncGenerator[asyncio.TaskGroup]:
    """A task group for background work that raises the first error itself, not an exception group."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as several:
        raise _first(several) from None


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    first = several.exceptions[0]
    if isinstance(first, BaseExceptionGroup):
        return _first(cast("BaseExceptionGroup[BaseException]", first))
    return first


@contextmanager
def live_screen(view: LiveView) -> Generator[Interrupts]:
    """Handle signals, update the view's time and size, and restore the terminal."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    has_quit = False

    def quit() -> None:
        nonlocal has_quit
        if not has_quit:
            has_quit = True
            task.cancel()
            view.footer([])

    ticker = _Ticker(view, loop)
    presses = Interrupts(quit)
    try:
        with handling(presses, view.measure if view.interactive else None):
            view.on_lost(presses.end)
            ticker.start()
            yield presses
    finally:
        view.on_lost(None)
        ticker.stop()
        view.close()


class _Ticker:
    """Passes the time to an animated view, ten times a second."""

    def __init__(self, view: LiveView, loop: asyncio.AbstractEventLoop) -> None:
        self._view = view
        self._loop = loop
        self._began = loop.time()
        self._next: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._view.tick(self._loop.time() - self._began)
        if self._view.animate:
            self._next = self._loop.call_later(_FRAME_SECONDS, self.start)

    def stop(self) -> None:
        if self._next is not None:
            self._next.cancel()


async def show_turn(
    turn: AsyncIterable[Message],
    session: Steerable,
    view: LiveView,
    presses: Interrupts,
    show: Callable[[Message], None],
) -> TurnEnded | None:
    """Show a turn until it ends; returns its end."""
    ended: TurnEnded | None = None
    async with beside() as tasks:

        def stop() -> None:
            view.hint("stopping; Ctrl-C again quits")
            tasks.create_task(_interrupt(session, view))

        view.hint("Ctrl-C interrupts")
        with presses.stopping(stop):
            async for message in turn:
                show(message)
                if isinstance(message, TurnEnded) and message.session_id in (session.id, None):
                    ended = message
    return ended


async def _interrupt(session: Steerable, view: LiveView) -> None:
    try:
        await session.interrupt()
    except AgentError as problem:
        view.write_rows([f"! cannot interrupt: {problem}"])
