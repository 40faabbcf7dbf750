"""One turn on a view, in the running loop: messages are shown, time goes by, Ctrl-C is heard.

Knows a session only by the few things it does with one, so that tests can stand in for the agent.
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
    """What a turn needs of its session."""

    @property
    def id(self) -> str: ...
    async def interrupt(self) -> object: ...
    async def steer(self, text: str) -> None: ...


def run_async(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command's work to its end; its exit code. Who quits gets 130, whatever was going on."""
    try:
        return asyncio.run(work())
    except (KeyboardInterrupt, asyncio.CancelledError):
        return QUIT
    except BaseExceptionGroup as several:
        raise _first(several) from None


@asynccontextmanager
async def beside() -> AsyncGenerator[asyncio.TaskGroup]:
    """A group for what goes on beside the work; what goes wrong is told as it is, not as a group."""
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
    """Hear signals, tell the view the time and the size; leave the terminal as it was found."""
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
    """Tells the view the time, ten times a second, if it moves at all."""

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


async def play(
    turn: AsyncIterable[Message],
    session: Steerable,
    view: LiveView,
    presses: Interrupts,
    show: Callable[[Message], None],
) -> TurnEnded | None:
    """Show a turn to its end; how it ended."""
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
        view.say([f"! cannot interrupt: {problem}"])
