from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from dragoman.errors import UsageError
from dragoman.web.server import listen, serving
from web_stage import play


async def hello(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def test_a_port_in_use_is_a_sentence() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(UsageError, match="is in use; --port 0"):
        listen("127.0.0.1", taken.getsockname()[1])


def test_an_address_that_is_not_ours_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="cannot listen on 192"):
        listen("192.0.2.1", 0)


def test_it_answers_until_the_block_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    async def story() -> None:
        on = listen("127.0.0.1", 0)
        port = on.getsockname()[1]
        async with serving(hello, on):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            assert answer.endswith(b"hello\r\n0\r\n\r\n")
            assert b"server:" not in answer.lower()
        on.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    play(story())
    assert capsys.readouterr().err == ""


def test_what_goes_wrong_in_the_block_is_told_after_the_end_of_the_server() -> None:
    async def story() -> None:
        on = listen("127.0.0.1", 0)
        with pytest.raises(ExceptionGroup) as caught:
            async with serving(hello, on):
                raise ValueError("no")
        assert isinstance(caught.value.exceptions[0], ValueError)
        on.close()

    play(story())
