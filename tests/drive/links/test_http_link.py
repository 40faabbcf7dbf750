"""A server spoken to over HTTP: requests, events, a stream that breaks off, and no process left."""

from __future__ import annotations

import asyncio
import base64
import functools
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman.drive.links.http_link import HttpBounds, HttpLink
from dragoman.errors import AgentError, ProcessExited, ResponseTimeout
from dragoman.harnesses.contract.transport import HttpServer, Launch
from dragoman.wire.lines import LongLine

_SERVER = str(Path(__file__).with_name("http_server.py"))
_QUICK = HttpBounds(pause=0.01, reopenings=3)


def _played(story: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that is a coroutine."""

    @functools.wraps(story)
    def test(**given: Any) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(60):
                await story(**given)

        asyncio.run(bounded())

    return test


def _address(line: bytes) -> str | None:
    found = line.partition(b"listening on ")[2]
    return found.decode().strip() or None


def _variables(env: Mapping[str, str], password: str) -> dict[str, str]:
    assert "PATH" in env
    return {"SERVER_PASSWORD": password}


def _hidden(path: str, body: Any) -> Any:
    return {**body, "argv": len(body["argv"])} if path == "/echo" else body


class _Heard:
    def __init__(self) -> None:
        self.lines: list[Any] = []
        self.closed = 0
        self._changed = asyncio.Event()

    def receive(self, lines: list[bytes | LongLine]) -> None:
        assert not self.closed
        self.lines += [
            line if isinstance(line, LongLine) else msgspec.json.decode(line) for line in lines
        ]
        self._changed.set()

    def close(self) -> None:
        self.closed += 1
        self._changed.set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()


@asynccontextmanager
async def _opened(
    bounds: HttpBounds = _QUICK, max_line: int | None = 1000, mode: str = "serves"
) -> AsyncGenerator[tuple[HttpLink, _Heard]]:
    heard = _Heard()
    server = HttpServer(
        address=_address, variables=_variables, user="dragoman", without_secrets=_hidden
    )
    link = await HttpLink.start(
        Launch(argv=(sys.executable, _SERVER, mode)),
        server,
        heard.receive,
        heard.close,
        bounds=bounds,
        max_line=max_line,
    )
    try:
        yield link, heard
    finally:
        pid = link.pid
        await link.stop()
        assert heard.closed == 1
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def _ask(number: int, path: str, method: str = "GET", body: Any = None) -> bytes:
    line = {"id": number, "method": method, "path": path, "body": body}
    return msgspec.json.encode(line) + b"\n"


@_played
async def test_a_response_is_a_line_and_the_password_is_not_in_the_arguments() -> None:
    async with _opened() as (link, heard):
        link.send([_ask(1, "/echo", "POST", {"a": [1]})])
        await heard.until(lambda: bool(heard.lines))

    (line,) = heard.lines
    assert (line["id"], line["status"]) == (1, 200)
    seen = line["body"]
    assert (seen["method"], seen["body"]) == ("POST", {"a": [1]})
    assert seen["argv"] == 2, "what the harness hides is hidden"
    pair = base64.b64decode(seen["authorization"].removeprefix("Basic ")).decode()
    assert pair == f"dragoman:{seen['password']}"
    assert len(seen["password"]) > 30


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/missing", {"status": 404, "body": {"name": "NotFoundError"}}),
        ("/text", {"status": 200, "body": "not json"}),
        ("/long", {"error": "the response is longer than 1000 bytes"}),
        ("/nonsense", {"error": "this is not an HTTP response: 'what?'"}),
        ("/silent", {"error": "the server did not answer in time"}),
    ],
)
@_played
async def test_every_request_gets_one_line(path: str, expected: dict[str, Any]) -> None:
    bounds = HttpBounds(answer=0.3 if path == "/silent" else 20)
    async with _opened(bounds) as (link, heard):
        link.send([_ask(4, path)])
        await asyncio.wait_for(link.drained(), 20)

    assert heard.lines == [{"id": 4, **expected}]


@_played
async def test_events_are_lines_and_other_requests_do_not_wait_for_them() -> None:
    async with _opened() as (link, heard):
        link.send([_ask(1, "/event/stays"), _ask(2, "/text")])
        await heard.until(lambda: len(heard.lines) == 3)

    stream = [line for line in heard.lines if line.get("id") != 2]
    assert stream == [
        {"id": 1, "status": 200, "body": None},
        {"type": "server.connected", "time": 1},
    ]


@_played
async def test_a_stream_that_breaks_off_is_opened_again_and_says_so() -> None:
    async with _opened() as (link, heard):
        link.send([_ask(1, "/event/breaks-once")])
        await heard.until(lambda: len(heard.lines) == 4)
        assert link.exit is None

    assert [line.get("time") for line in heard.lines] == [None, 1, None, 2]


@_played
async def test_a_stream_that_stays_silent_is_opened_again() -> None:
    bounds = HttpBounds(pause=0.01, silence=0.2)
    async with _opened(bounds) as (link, heard):
        link.send([_ask(1, "/event/stays")])
        await heard.until(lambda: len(heard.lines) >= 4)

    assert [line.get("time") for line in heard.lines][:4] == [None, 1, None, 2]


@_played
async def test_a_stream_that_cannot_be_opened_again_ends_the_link() -> None:
    async with _opened() as (link, heard):
        link.send([_ask(1, "/event/never-again")])
        await heard.until(lambda: bool(heard.closed))
        assert link.exit is not None
        assert link.exit.reason == "broke off its stream of events"
        link.send([_ask(2, "/text")])


@_played
async def test_the_end_of_the_process_is_the_end_of_the_link() -> None:
    async with _opened() as (link, heard):
        link.send([_ask(1, "/event/stays"), _ask(2, "/die")])
        await heard.until(lambda: bool(heard.closed))
        assert link.exit is not None
        assert link.exit.code == 3


@pytest.mark.parametrize(
    ("mode", "problem", "words"),
    [
        ("fails", ProcessExited, "exited with status 7 before it listened"),
        ("mute", ResponseTimeout, "did not say where it listens within 0.5 seconds"),
        ("elsewhere", ProcessExited, "not listen on loopback"),
    ],
)
@_played
async def test_a_server_that_does_not_come_up_is_gone(
    mode: str, problem: type[AgentError], words: str
) -> None:
    bounds = HttpBounds(start=0.5 if mode == "mute" else 20)
    with pytest.raises(problem, match=words) as raised:
        async with _opened(bounds, mode=mode):
            raise AssertionError("it is open")

    assert mode != "fails" or "no such model" in raised.value.stderr
