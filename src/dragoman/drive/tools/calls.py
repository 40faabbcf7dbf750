"""Runs the calls that a model makes of our own tools: beside the reader, several at once, each bounded.

Every call is answered, and a tool that fails answers too: the model gets the reason in one line and
continues. A call whose turn is over is dropped, since the agent no longer waits for its answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Final, TypeAlias

from dragoman.drive.calling import Outcome, call
from dragoman.drive.tasks import Tasks
from dragoman.drive.tools.toolbox import Tool, Toolbox, tell_result
from dragoman.harnesses.contract.conversation import ToolRequest
from dragoman.model.intents import AnswerTool

DeliverAnswer: TypeAlias = Callable[[AnswerTool], None]
AT_ONCE: Final = 16
UNSUPPORTED: Final = "unsupported call"
"""How the answer begins to a call of a tool that there is not; orchestrators look for it."""
_log = logging.getLogger(__name__)
_Key: TypeAlias = tuple[str, str]


class ToolCalls:
    """``async with ToolCalls() as calls``: runs calls until the block is left, then drops what still runs."""

    def __init__(self, *, at_once: int = AT_ONCE) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._running: dict[_Key, tuple[ToolRequest, asyncio.Task[None]]] = {}
        self._group: Tasks | None = None

    async def __aenter__(self) -> ToolCalls:
        self._group = await Tasks().__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        group, self._group = self._group, None
        self.cancel_all()
        if group is not None:
            await group.__aexit__(kind, error, trace)

    def submit(self, request: ToolRequest, toolbox: Toolbox, deliver: DeliverAnswer) -> None:
        """Run a call; ``deliver`` gets its answer, later and once, in the event loop's thread.

        A call that is running already is not run again. After the end nothing is run at all.
        """
        key = (request.session_id, request.call_id)
        if self._group is not None and key not in self._running:
            task = self._group.create_task(self._work(key, request, toolbox, deliver))
            self._running[key] = (request, task)

    def running(self) -> list[ToolRequest]:
        """The calls that are not answered yet, oldest first."""
        return [request for request, _ in self._running.values()]

    def cancel(self, session_id: str) -> int:
        """Drop the calls of a session whose turn is over. Returns how many there were."""
        keys = [key for key in self._running if key[0] == session_id]
        for key in keys:
            self._drop(key)
        return len(keys)

    def cancel_all(self) -> None:
        """The agent is gone."""
        for key in list(self._running):
            self._drop(key)

    def _drop(self, key: _Key) -> None:
        _, task = self._running.pop(key)
        task.cancel()

    async def _work(
        self, key: _Key, request: ToolRequest, toolbox: Toolbox, deliver: DeliverAnswer
    ) -> None:
        with Outcome() as outcome:
            outcome.value = await self._answer(request, toolbox)
        answer = outcome.value
        if outcome.problem is not None:  # a fault of ours
            _log.error("a tool call could not be run", exc_info=outcome.error)
            answer = _answer(request, f"Error: {outcome.problem}", success=False)
        here = self._running.get(key)
        if here is None or here[1] is not asyncio.current_task():
            return
        del self._running[key]
        with Outcome() as delivered:
            deliver(answer)
        if delivered.error is not None:
            _log.error("a tool's answer could not be delivered", exc_info=delivered.error)

    async def _answer(self, request: ToolRequest, toolbox: Toolbox) -> AnswerTool:
        tool = toolbox.find(request.tool, request.namespace)
        if tool is None:
            known = ", ".join(toolbox.names()) or "none"
            name = f"{request.namespace}.{request.tool}" if request.namespace else request.tool
            text = f"{UNSUPPORTED}: {name}; the tools are: {known}"
            return _answer(request, text, success=False)
        async with self._slots:
            return await _run(tool, request)


async def _run(tool: Tool[..., object], request: ToolRequest) -> AnswerTool:
    given, problem = tool.read(request.arguments)
    if problem is not None:
        text = f"Error: the arguments of {tool.full_name} are wrong: {problem}"
        return _answer(request, text, success=False)
    try:
        async with asyncio.timeout(tool.timeout_seconds):
            outcome = await call(tool.function, *given[0], **given[1])
    except TimeoutError:
        seconds = tool.timeout_seconds or 0
        text = f"Error: {tool.full_name} did not answer within {seconds:g} seconds"
        return _answer(request, text, success=False)
    if outcome.problem is None:
        value = outcome.value
        with Outcome() as outcome:
            output, images = tell_result(value)
            return _answer(request, output, images, success=True)
    return _answer(request, f"Error: {outcome.problem}", success=False)


def _answer(
    request: ToolRequest, output: str, images: list[str] | None = None, *, success: bool
) -> AnswerTool:
    return AnswerTool(
        session_id=request.session_id,
        call_id=request.call_id,
        # What no encoding can carry (a file name's stray byte) must not cost the answer.
        output=output.encode("utf-8", "replace").decode("utf-8"),
        images=images or [],
        success=success,
    )
