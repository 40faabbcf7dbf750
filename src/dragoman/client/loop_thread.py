"""A thread with an event loop in it, so that scripts and notebooks need not know of either."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

from dragoman.errors import ProtocolError

T = TypeVar("T")
T2 = TypeVar("T2")
_CLOSING_SECONDS = 30.0
_REST_SECONDS = 5.0
_CLOSED = "the agent is closed"
_OWN_THREAD = "this call would wait for itself: it is made on the thread that runs the agent"


class LoopThread(Generic[T]):
    """Holds something asynchronous open, and runs coroutines with it for callers without a loop.

    ``make`` is called in the loop's thread. Entering, waiting and leaving are done by one task there,
    as task groups demand.
    """

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="dragoman", daemon=True)
        self._thread.start()
        self._leave = asyncio.Event()
        self._left = threading.Event()
        self._closing = threading.Lock()
        self._is_closed = False
        entered: Future[T] = Future()
        self._life = asyncio.run_coroutine_threadsafe(self._live(make, entered), self._loop)
        is_entered = False
        try:
            self.value = entered.result()
            is_entered = True
        finally:
            if not is_entered:  # Ctrl-C, for example
                self._life.cancel()
                self.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left, timeout=_REST_SECONDS))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())

    async def _live(
        self, make: Callable[[], AbstractAsyncContextManager[T]], entered: Future[T]
    ) -> None:
        try:
            async with make() as value:
                entered.set_result(value)
                await self._leave.wait()
        except BaseException as problem:
            if entered.done():
                raise
            entered.set_exception(problem)
        finally:
            self._left.set()

    def call(self, work: Coroutine[Any, Any, T2]) -> T2:
        """Run it there and wait for it here. Ctrl-C here cancels it there."""
        if self._is_closed or threading.current_thread() is self._thread:
            work.close()
            raise ProtocolError(_CLOSED if self._is_closed else _OWN_THREAD)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()  # which does nothing when it is done

    def iterate(self, items: AsyncIterator[T2]) -> Iterator[T2]:
        """The items, one by one, as they come."""
        while True:
            try:
                item = self.call(_next(items))
            except StopAsyncIteration:
                return
            yield item

    def close(self) -> None:
        """Leave what was entered, and end the thread; again does nothing. Bounded.

        Raises what leaving raised.
        """
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
        self._loop.call_soon_threadsafe(self._leave.set)
        try:
            self._left.wait(_CLOSING_SECONDS)
            if not self._life.cancelled():
                self._life.result(_REST_SECONDS)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSING_SECONDS)
            if not self._thread.is_alive():
                self._loop.close()


async def _next(items: AsyncIterator[T2]) -> T2:
    return await anext(items)
