"""A thread with an event loop in it, so that scripts and notebooks need not know of either."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

T = TypeVar("T")
T2 = TypeVar("T2")
_CLOSING_SECONDS = 30.0


class Portal(Generic[T]):
    """Holds something asynchronous open, and runs coroutines with it for callers without a loop.

    ``make`` is called in the loop's thread. Entering, waiting and leaving are done by one task there,
    as task groups demand.
    """

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="dragoman", daemon=True)
        self._thread.start()
        self._leave = asyncio.Event()
        entered: Future[T] = Future()
        self._life = asyncio.run_coroutine_threadsafe(self._live(make, entered), self._loop)
        try:
            self.value = entered.result()
        except BaseException:
            self.close()
            raise

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

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

    def call(self, work: Coroutine[Any, Any, T2]) -> T2:
        """Run it there and wait for it here. Ctrl-C here cancels it there."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def iterate(self, items: AsyncIterator[T2]) -> Iterator[T2]:
        """The items, one by one, as they come."""
        while True:
            try:
                item = self.call(_next(items))
            except StopAsyncIteration:
                return
            yield item

    def close(self) -> None:
        """Leave what was entered, and end the thread. Bounded."""
        self._loop.call_soon_threadsafe(self._leave.set)
        try:
            self._life.result(_CLOSING_SECONDS)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSING_SECONDS)
            if not self._thread.is_alive():
                self._loop.close()


async def _next(items: AsyncIterator[T2]) -> T2:
    return await anext(items)
