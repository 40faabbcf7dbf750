"""A request that is made twice is carried out once: what a key was answered with is kept for a while."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from dragoman.crew.hub import KeyUsedDifferently

_T = TypeVar("_T")
_KEPT: Final = 1_000


class Once:
    """Answers by their key. A request that failed is not remembered: it may be made again."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, tuple[object, asyncio.Future[object]]] = OrderedDict()

    async def do(self, key: str | None, request: object, work: Callable[[], Awaitable[_T]]) -> _T:
        """The answer of ``work``, or of the request with the same key that came before."""
        if not key:
            return await work()
        known = self._answers.get(key)
        if known is not None:
            if known[0] != request:
                raise KeyUsedDifferently(key)
            return await asyncio.shield(known[1])  # pyright: ignore[reportReturnType] # the same work
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._answers[key] = request, future
        if len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        try:
            answer = await work()
        except BaseException as problem:
            del self._answers[key]
            if isinstance(problem, Exception):
                future.set_exception(problem)
                future.exception()  # nobody may be waiting for it
            else:
                future.cancel()
            raise
        future.set_result(answer)
        return answer
