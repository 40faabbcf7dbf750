"""Calling other people's functions: a policy, a person's prompt, a tool.

They may be async or not, wait, raise, cancel themselves, or never come back; none of that reaches us other
than as a value. Async ones run on the event loop, each in a task of its own: what it does to the task that it
finds itself in, it does to itself. All others run in a thread of their own, a daemon, so that one which hangs
holds up neither the loop nor the end of the program; a caller that stops waiting just leaves it.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

_OURS = (KeyboardInterrupt, GeneratorExit)
"""Never the function's own doing."""


class Outcome:
    """What came of a call: a value, or an error. As a context manager it takes the error in."""

    def __init__(self, *, in_thread: bool = False) -> None:
        self._in_thread = in_thread
        """In a thread, or a task, of the function's own: every error in there is the function's own."""
        self.value: Any = None
        self.error: BaseException | None = None

    def __enter__(self) -> Outcome:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is None:
            return False
        if not self._in_thread and (isinstance(error, _OURS) or _is_our_cancellation(error)):
            return False
        self.error = error
        return True

    @property
    def problem(self) -> str | None:
        """The error in one line, ``ValueError: no such ticket``; no traceback."""
        if self.error is None:
            return None
        name = type(self.error).__name__
        with Outcome(in_thread=True) as told:  # even to say what is wrong may go wrong
            told.value = " ".join(str(self.error).split())
        return f"{name}: {told.value}" if told.value else name


def _is_our_cancellation(error: BaseException) -> bool:
    """Whether the task is being cancelled, rather than the function raising that error by itself."""
    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False  # in a thread
    return task is not None and task.cancelling() > 0


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await."""
    if inspect.iscoroutinefunction(function):
        return True
    return inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


async def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Outcome:
    """Call a function and wait for it. Raises nothing but our own cancellation."""
    with Outcome() as outcome:
        if is_async(function):
            return await _await_in_task(function(*args, **kwargs))
        threaded = await _call_in_thread(function, args, kwargs)
        if not inspect.isawaitable(threaded.value):
            return threaded
        return await _await_in_task(threaded.value)  # a lambda around an async function
    return outcome


_left: set[asyncio.Task[None]] = set()
"""Tasks that were cancelled and may not have noticed yet: a task without a reference may vanish."""


async def _await_in_task(awaitable: Awaitable[Any]) -> Outcome:
    outcome = Outcome(in_thread=True)

    async def work() -> None:
        with outcome:
            outcome.value = await awaitable

    task = asyncio.get_running_loop().create_task(work())
    try:
        await asyncio.wait((task,))
    finally:
        if not task.done():
            _left.add(task)
            task.add_done_callback(_left.discard)
            task.cancel()
    if outcome.error is None and task.cancelled():  # before it started
        outcome.error = asyncio.CancelledError()
    return outcome


async def _call_in_thread(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Outcome:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()

    def run() -> None:
        with Outcome(in_thread=True) as outcome:
            outcome.value = context.run(function, *args, **kwargs)
        try:
            loop.call_soon_threadsafe(_hand_over, done, outcome)
        except RuntimeError:
            return  # the loop is closed: no caller waits

    threading.Thread(target=run, name=f"dragoman {function!r:.60}", daemon=True).start()
    return await done


def _hand_over(done: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not done.done():
        done.set_result(outcome)
