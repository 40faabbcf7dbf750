from __future__ import annotations

import asyncio
import contextvars
import functools
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from dragoman.drive.calling import Outcome, call

T = TypeVar("T")


def _within(seconds: float, work: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            return await work()

    return asyncio.run(bounded())


def _ask(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Outcome:
    return _within(5, lambda: call(function, *args, **kwargs))


async def _double(x: int) -> int:
    return 2 * x


class _Doubler:
    async def __call__(self, x: int) -> int:
        return 2 * x


_DOUBLING: dict[str, Callable[[int], Any]] = {
    "async": _double,
    "plain": lambda x: 2 * x,
    "lambda around async": lambda x: _double(x),
    "partial": functools.partial(_double),
    "object": _Doubler(),
}


@pytest.mark.parametrize("function", _DOUBLING.values(), ids=_DOUBLING)
def test_a_function_of_any_sort_gives_its_value(function: Callable[[int], Any]) -> None:
    outcome = _ask(function, 21)

    assert (outcome.value, outcome.problem) == (42, None)


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (ValueError("no\n  such ticket"), "ValueError: no such ticket"),
        (KeyError(), "KeyError"),
        (_Mute(), "_Mute"),
        (SystemExit(3), "SystemExit: 3"),
        (asyncio.CancelledError(), "CancelledError"),
        (TimeoutError("slow"), "TimeoutError: slow"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_of_any_sort_is_a_value(error: BaseException, problem: str) -> None:
    def plain() -> None:
        raise error

    async def later() -> None:
        raise error

    assert _ask(plain).problem == problem
    assert _ask(later).problem == problem
    assert _ask(lambda: later()).problem == problem


def test_a_plain_function_does_not_hold_up_the_loop_and_sees_our_context() -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who")
    release = threading.Event()

    def wait() -> str:
        assert release.wait(5)
        return f"{who.get()} in {threading.current_thread() is not threading.main_thread()}"

    async def work() -> Any:
        who.set("me")
        async with asyncio.TaskGroup() as group:
            task = group.create_task(call(wait))
            await asyncio.sleep(0)
            release.set()
        return task.result().value

    assert _within(5, work) == "me in True"


def test_a_function_that_hangs_is_left_behind() -> None:
    release = threading.Event()

    async def work() -> str:
        try:
            async with asyncio.timeout(0.01):
                await call(release.wait)
        except TimeoutError:
            return "left"
        return "waited"

    # The loop is closed while the thread still runs; it ends afterwards without a word.
    assert _within(5, work) == "left"
    hooked: list[Any] = []
    before, threading.excepthook = threading.excepthook, hooked.append
    try:
        release.set()
        for thread in threading.enumerate():
            if thread.name.startswith("dragoman "):
                thread.join(5)
    finally:
        threading.excepthook = before
    assert hooked == []


def test_our_own_cancellation_goes_through() -> None:
    async def work() -> bool:
        async def forever() -> None:
            await asyncio.get_running_loop().create_future()

        async with asyncio.TaskGroup() as group:
            task = group.create_task(call(forever))
            await asyncio.sleep(0)
            task.cancel()
        return task.cancelled()

    assert _within(5, work)


def test_an_interrupt_from_the_keyboard_is_not_taken_in() -> None:
    with pytest.raises(KeyboardInterrupt), Outcome():
        raise KeyboardInterrupt


def test_in_a_thread_even_that_is_the_functions_own() -> None:
    def quit_() -> None:
        raise KeyboardInterrupt

    assert _ask(quit_).problem == "KeyboardInterrupt"
    assert _ask(sys.exit).problem == "SystemExit"
