from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

import pytest

from dragoman.errors import UsageError
from dragoman.web import server
from dragoman.web.server import listen, serving
from dragoman.web.settings import Settings
from dragoman.web.streams.streaming import ABORT
from support.page.web_stage import play


async def hello(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def test_a_port_in_use_is_a_sentence() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(UsageError, match="is in use"):
        listen("127.0.0.1", taken.getsockname()[1])


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux only")
def test_a_sleeping_reader_is_cut_off_by_us_before_the_system_drops_it_in_silence() -> None:
    with listen("127.0.0.1", 0) as on:
        limit_ms = on.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    assert limit_ms >= 1.5 * Settings().slow_seconds * 1000


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


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET / HTT", b"GET / HTTP/1.1\r\nHost: x\r\nX: ", HEAD, HEAD + b"1"],
    ids=["nothing", "a line", "a head", "a body", "more of a body"],
)
def test_a_client_that_does_not_finish_its_request_is_cut_off(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hurry(monkeypatch)

    async def patient(scope: Any, receive: Any, send: Any) -> None:
        while scope["type"] == "http" and (await receive()).get("more_body"):
            continue
        await hello(scope, receive, send)

    async def story() -> None:
        on = listen("127.0.0.1", 0)
        async with serving(patient, on):
            reader, writer = await asyncio.open_connection("127.0.0.1", on.getsockname()[1])
            writer.write(begun)

            async def trickle() -> None:
                while True:  # a little at a time keeps nothing open
                    await asyncio.sleep(0.05)
                    writer.write(b"x" if begun.startswith(b"GET") else b"")

            slow = asyncio.ensure_future(trickle())
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
            slow.cancel()
            writer.close()
        on.close()

    play(story())


def test_a_connection_that_is_closed_already_can_be_cut_off() -> None:
    aborts: list[Any] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        aborts.append(scope.get(ABORT))
        await hello(scope, receive, send)

    async def story() -> None:
        on = listen("127.0.0.1", 0)
        async with serving(note, on):
            reader, writer = await asyncio.open_connection("127.0.0.1", on.getsockname()[1])
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await reader.readuntil(b"0\r\n\r\n")
            abort = aborts[-1]
            abort()
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
            abort()  # the socket is closed: nothing to do, and no error
            writer.close()
        on.close()

    play(story())


def test_a_client_that_is_being_answered_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    _hurry(monkeypatch)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await asyncio.sleep(1)
        await hello(scope, receive, send)

    async def story() -> None:
        on = listen("127.0.0.1", 0)
        async with serving(slow, on):
            reader, writer = await asyncio.open_connection("127.0.0.1", on.getsockname()[1])
            writer.write(HEAD + b"0123456789")
            assert (await reader.readuntil(b"0\r\n\r\n")).endswith(b"hello\r\n0\r\n\r\n")
            with suppress(ConnectionResetError):  # and afterwards it asks for nothing more
                assert await reader.read() == b""
            writer.close()
        on.close()

    play(story())


def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_SECONDS", dict.fromkeys(server._SECONDS, 0.2))
    monkeypatch.setattr(server, "_LOOK_SECONDS", 0.05)


def test_connections_hold_little_for_a_client_that_does_not_read() -> None:
    with listen("127.0.0.1", 0) as on, socket.create_connection(on.getsockname()) as client:
        on.setblocking(True)
        accepted, _ = on.accept()
        with accepted:
            size = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            assert size <= 256 * 1024
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert client.fileno() >= 0
