"""A group of tasks that work in the background of a block, and end with it.

As :class:`asyncio.TaskGroup`, with two differences that suit a background: when the block is left its
tasks are cancelled, not waited for; and an error that the block itself raises comes out as it is,
without a group around it. Background tasks are not expected to fail; should one, the block is cancelled
and that error comes out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any


class Tasks:
    """``async with Tasks() as tasks``."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()

    def create_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do this beside the block."""
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def __aenter__(self) -> Tasks:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._running:
            task.cancel()
        try:
            await self._group.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            failed = [one for one in group.exceptions if one is not error]
            if error is not None and not failed:
                return  # and so it is raised again, as it was
            raise failed[0] from error
        except BaseException as again:
            # A group raises the cancellation that it was left with once more. An exit stack takes that
            # for a new error and makes it its own context; the next stack would follow that circle for ever.
            if again is error:
                return
            raise
