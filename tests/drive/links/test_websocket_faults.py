"""The WebSocket link, against a server that does every kind of wrong."""

from __future__ import annotations

import asyncio

import pytest
from websockets.frames import CloseCode, Opcode

from dragoman.drive.links import websocket
from dragoman.drive.links.link import Exit, Link
from dragoman.errors import ProcessExited, ResponseError, ResponseTimeout
from support.agents.remote_ends import Heard
from support.agents.websocket_ends import TOKEN, Caller, against, until_the_end


def test_a_server_that_closes_says_why() -> None:
    async def serve(caller: Caller) -> None:
        await caller.accept()
        caller.say(b"last words")
        caller.wire.send_close(CloseCode.GOING_AWAY, f"closing {TOKEN}")
        caller.flush()
        await caller.frames()

    lines, ended = against(serve, until_the_end)

    assert lines == [b"last words"]
    assert ended == Exit(reason="the server closed the connection (1001 closing [secret])")


def test_a_connection_that_breaks_off_in_a_message_hands_over_its_beginning() -> None:
    async def serve(caller: Caller) -> None:
        await caller.accept()
        caller.wire.send_text(b'{"half":', fin=False)
        caller.flush()
        await caller.writer.drain()
        caller.writer.transport.abort()

    lines, ended = against(serve, until_the_end)

    assert lines == [b'{"half":']
    assert ended is not None
    assert ended.code is None
    assert ended.reason.startswith("the connection broke off")


def test_a_message_beyond_the_limit_ends_the_connection_with_the_limit_named() -> None:
    async def serve(caller: Caller) -> None:
        await caller.accept()
        caller.say(b"x" * 1000)
        caller.say(b"x" * 1001)
        await caller.frames()

    async def talk(link: Link, heard: Heard) -> tuple[list[bytes], Exit | None]:
        return await until_the_end(link, heard)

    lines, ended = against(serve, talk, max_line=1000)

    assert lines == [b"x" * 1000]
    assert ended == Exit(reason="the server sent a message of more than 1000 bytes")


def test_a_huge_message_within_the_limit_is_a_line() -> None:
    async def serve(caller: Caller) -> None:
        await caller.accept()
        caller.say(b"x" * (40 << 20))
        await caller.frames()

    async def talk(link: Link, heard: Heard) -> int:
        [line] = await heard.count(1)
        return len(line)

    assert against(serve, talk) == 40 << 20


def test_bytes_that_are_no_frames_are_told_as_such() -> None:
    async def serve(caller: Caller) -> None:
        await caller.accept()
        caller.writer.write(b"\xff\xff\xff\xff")
        await caller.frames()

    _, ended = against(serve, until_the_end)

    assert ended is not None
    assert ended.reason.startswith("the server broke the rules of WebSocket")


def test_a_refused_token_is_an_error_that_does_not_show_it() -> None:
    async def serve(caller: Caller) -> None:
        await caller.reader.readuntil(b"\r\n\r\n")
        body = f"invalid token {TOKEN}".encode()
        head = f"HTTP/1.1 401 Unauthorized\r\nContent-Length: {len(body)}\r\n\r\n"
        caller.writer.write(head.encode() + body)
        await caller.reader.read()

    with pytest.raises(ResponseError, match="refused the token: invalid token") as caught:
        against(serve, until_the_end)
    assert caught.value.code == 401
    assert not caught.value.retryable
    assert TOKEN not in repr(caught.value) + str(caught.value)


@pytest.mark.parametrize(
    "reply", [b"", b"hello\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]
)
def test_a_server_that_does_not_speak_websocket_is_told_as_such(reply: bytes) -> None:
    async def serve(caller: Caller) -> None:
        await caller.reader.readuntil(b"\r\n\r\n")
        caller.writer.write(reply)
        await caller.writer.drain()

    with pytest.raises((ProcessExited, ResponseError)) as caught:
        against(serve, until_the_end)
    assert not caught.value.retryable
    assert "ws://127.0.0.1:" in str(caught.value)


def test_a_server_that_says_nothing_is_not_waited_for_longer_than_told() -> None:
    async def serve(caller: Caller) -> None:
        await caller.reader.read()
        await caller.reader.read()

    with pytest.raises(ResponseTimeout, match="did not accept us within"):
        against(serve, until_the_end, open_seconds=0.2)


def test_a_server_that_does_not_close_its_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "CLOSE_SECONDS", 0.1)
    is_over = asyncio.Event()

    async def serve(caller: Caller) -> None:
        await caller.accept()
        await is_over.wait()

    async def talk(link: Link, heard: Heard) -> Exit:
        ended = await link.stop()
        link.send([b"to nobody\n"])
        assert await link.stop() == link.exit == ended
        assert heard.closed == 1
        is_over.set()
        return ended

    assert against(serve, talk).reason == "we closed the connection"


def test_a_server_that_answers_no_ping_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "PING_SECONDS", 0.05)
    monkeypatch.setattr(websocket, "DEAF_SECONDS", 0.2)
    is_over = asyncio.Event()

    async def serve(caller: Caller) -> None:
        await caller.accept()
        await is_over.wait()  # reads nothing, answers nothing

    async def talk(link: Link, heard: Heard) -> Exit | None:
        await heard.end()
        is_over.set()
        return link.exit

    ended = against(serve, talk)
    assert ended is not None
    assert ended.reason == "the server has not answered for 0.2 seconds"


def test_a_silent_server_that_answers_pings_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "PING_SECONDS", 0.05)
    monkeypatch.setattr(websocket, "DEAF_SECONDS", 0.2)
    pings = 0

    async def serve(caller: Caller) -> None:
        nonlocal pings
        await caller.accept()
        while pings < 10:
            pings += sum(frame.opcode is Opcode.PING for frame in await caller.frames())
        caller.say(b"still here")
        await caller.frames()

    async def talk(link: Link, heard: Heard) -> list[bytes]:
        return await heard.count(1)

    assert against(serve, talk) == [b"still here"]
