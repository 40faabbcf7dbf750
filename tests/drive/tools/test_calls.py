from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from dragoman.drive.tools.calls import ToolCalls
from dragoman.drive.tools.toolbox import Image, Toolbox, tool
from dragoman.harnesses.contract.conversation import ToolRequest
from dragoman.model.intents import AnswerTool

T = TypeVar("T")


def _run(work: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(10):
            return await work()

    return asyncio.run(bounded())


def _request(
    name: str, arguments: Any = None, call_id: str = "c", namespace: str | None = None
) -> ToolRequest:
    return ToolRequest("s", call_id, name, namespace, {} if arguments is None else arguments)


async def _answer(calls: ToolCalls, request: ToolRequest, box: Toolbox) -> AnswerTool:
    done: asyncio.Future[AnswerTool] = asyncio.get_running_loop().create_future()
    calls.submit(request, box, done.set_result)
    return await done


def _call(box: Toolbox, request: ToolRequest) -> AnswerTool:
    async def work() -> AnswerTool:
        async with ToolCalls() as calls:
            answer = await _answer(calls, request, box)
            assert calls.running() == []
            return answer

    return _run(work)


def add(a: int, b: int = 1) -> int:
    return a + b


async def greet(name: str) -> str:
    await asyncio.sleep(0)
    return f"hello {name}"


def fail() -> None:
    raise LookupError("no such ticket")


def strange() -> object:
    return object()


def stray() -> str:
    return "a\udc80b"


def look() -> list[str | Image]:
    return ["see", Image("data:x")]


_BOX = Toolbox([add, greet, fail, strange, stray, look, tool(namespace="ns", name="add")(add)])


@pytest.mark.parametrize(
    ("request_", "output", "success"),
    [
        (_request("add", {"a": 2}), "3", True),
        (_request("add", {"a": 2, "b": 5}, namespace="ns"), "7", True),
        (_request("greet", {"name": "Ann"}), "hello Ann", True),
        (_request("fail"), "Error: LookupError: no such ticket", False),
        (
            _request("add", {"a": "two"}),
            "Error: the arguments of add are wrong: Expected `int`, got `str` - at `$.a`",
            False,
        ),
        (
            _request("add", "a"),
            "Error: the arguments of add are wrong: Expected `object`, got `str`",
            False,
        ),
        (_request("stray"), "a?b", True),
    ],
)
def test_a_call_is_answered(request_: ToolRequest, output: str, success: bool) -> None:
    assert _call(_BOX, request_) == AnswerTool(
        session_id="s", call_id="c", output=output, success=success
    )


def test_images_go_beside_the_text() -> None:
    answer = _call(_BOX, _request("look"))

    assert (answer.output, answer.images) == ("see", ["data:x"])


def test_a_result_that_is_not_json_is_told_to_the_model() -> None:
    answer = _call(_BOX, _request("strange"))

    assert answer.output.startswith("Error: TypeError: ")
    assert answer.success is False


def test_an_unknown_tool_is_an_unsupported_call() -> None:
    box = Toolbox([add])

    assert _call(box, _request("ad")).output == "unsupported call: ad; the tools are: add"
    assert _call(box, _request("add", namespace="ns")).output.startswith(
        "unsupported call: ns.add;"
    )
    assert _call(Toolbox(), _request("x")).output == "unsupported call: x; the tools are: none"
    assert _call(box, _request("ad")).success is False


def test_a_tool_that_takes_too_long_is_given_up() -> None:
    release = threading.Event()

    @tool(timeout_seconds=0.01)
    def slow() -> None:
        release.wait(10)

    @tool(timeout_seconds=0.01)
    async def slower() -> None:
        await asyncio.get_running_loop().create_future()

    box = Toolbox([slow, slower])
    for name in box.names():
        answer = _call(box, _request(name))
        assert answer.output == f"Error: {name} did not answer within 0.01 seconds"
        assert answer.success is False
    release.set()


def test_calls_run_side_by_side_and_not_too_many() -> None:
    at_once: list[int] = []
    here = 0

    async def count() -> None:
        nonlocal here
        here += 1
        at_once.append(here)
        await asyncio.sleep(0)
        here -= 1

    async def work() -> int:
        async with ToolCalls(at_once=3) as calls, asyncio.TaskGroup() as group:
            for number in range(20):
                request = _request("count", call_id=str(number))
                group.create_task(_answer(calls, request, Toolbox([count])))
        return max(at_once)

    assert _run(work) == 3
    assert len(at_once) == 20


def test_plain_functions_run_side_by_side_too() -> None:
    both = threading.Barrier(2)

    def meet() -> str:
        both.wait(10)
        return "met"

    async def work() -> list[str]:
        box = Toolbox([meet])
        async with ToolCalls() as calls, asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_answer(calls, _request("meet", call_id=name), box))
                for name in "ab"
            ]
        return [task.result().output for task in tasks]

    assert _run(work) == ["met", "met"]


def test_a_call_whose_turn_is_over_is_dropped() -> None:
    async def work() -> None:
        stopped, answers, started = asyncio.Event(), list[AnswerTool](), asyncio.Event()

        async def forever() -> None:
            started.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                stopped.set()

        async with ToolCalls() as calls:
            request = _request("forever")
            for _ in range(2):  # the same call is not run twice
                calls.submit(request, Toolbox([forever]), answers.append)
            assert calls.running() == [request]
            await started.wait()
            assert calls.cancel("other") == 0
            assert calls.cancel("s") == 1
            await stopped.wait()
            assert (calls.running(), answers) == ([], [])

            calls.submit(request, Toolbox([forever]), answers.append)
        calls.submit(request, Toolbox([add]), answers.append)
        assert (calls.running(), answers) == ([], [])

    _run(work)


def test_a_listener_that_fails_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    def broken(answer: AnswerTool) -> None:
        raise OSError("gone")

    async def work() -> AnswerTool:
        async with ToolCalls() as calls:
            calls.submit(_request("add", {"a": 1}, "x"), _BOX, broken)
            return await _answer(calls, _request("add", {"a": 1}), _BOX)

    assert _run(work).output == "2"
    assert "a tool's answer could not be delivered" in caplog.text
