"""The WebSocket link, when all is well."""

from __future__ import annotations

import logging

import pytest
from websockets.frames import Opcode

from dragoman.drive.links import websocket
from dragoman.drive.links.link import Link
from support.agents.remote_ends import Heard
from support.agents.websocket_ends import TOKEN, Caller, against, echo


def test_a_line_is_a_text_message_without_its_newline() -> None:
    async def serve(caller: Caller) -> None:
        await caller.accept()
        [frame] = await caller.frames()
        assert (frame.opcode, bytes(frame.data)) == (Opcode.TEXT, b'{"a":1}')
        caller.say(b'{"b":2}')
        await caller.frames()

    async def talk(link: Link, heard: Heard) -> list[bytes]:
        link.send([b'{"a":1}\n'])
        await link.drained()
        return await heard.count(1)

    assert against(serve, talk) == [b'{"b":2}']


def test_the_handshake_carries_the_token_and_neither_an_origin_nor_an_offer() -> None:
    seen: dict[str, str] = {}

    async def serve(caller: Caller) -> None:
        await caller.accept()
        seen.update(caller.headers)
        await caller.frames()

    async def talk(link: Link, heard: Heard) -> None:
        assert (link.pid, link.exit, link.stderr_tail) == (None, None, "")

    against(serve, talk)
    assert seen["Authorization"] == f"Bearer {TOKEN}"
    assert not {"Origin", "Sec-WebSocket-Extensions"} & set(seen)


def test_a_long_line_goes_in_frames_that_servers_take() -> None:
    line = "☃".encode() * 3_000_000  # frames end in the middle of a character
    sizes: list[int] = []

    async def serve(caller: Caller) -> None:
        await caller.accept()
        got = b""
        while True:
            for frame in await caller.frames():
                sizes.append(len(frame.data))
                got += bytes(frame.data)
                if frame.fin:
                    caller.say(got)
                    await caller.frames()
                    return

    async def talk(link: Link, heard: Heard) -> list[bytes]:
        link.send([line + b"\n"])
        return await heard.count(1)

    assert against(serve, talk) == [line]
    assert max(sizes) <= websocket.FRAME_BYTES


def test_a_message_in_pieces_with_a_ping_between_is_one_line() -> None:
    async def serve(caller: Caller) -> None:
        await caller.accept()
        caller.wire.send_text(b'{"a":\r\n', fin=False)
        caller.wire.send_ping(b"?")
        caller.wire.send_continuation(b"[1,\n", fin=False)
        caller.wire.send_continuation(b"2]}\n", fin=True)
        caller.wire.send_binary(b'{"binary":true}')
        caller.flush()
        [pong] = await caller.frames()
        assert (pong.opcode, bytes(pong.data)) == (Opcode.PONG, b"?")
        caller.say(b"ponged")
        await caller.frames()

    async def talk(link: Link, heard: Heard) -> list[bytes]:
        return await heard.count(3)

    lines = against(serve, talk)
    assert lines == [b'{"a":\r [1, 2]}', b'{"binary":true}', b"ponged"]


def test_the_token_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    async def talk(link: Link, heard: Heard) -> None:
        link.send([b"secret words\n"])
        await heard.count(1)

    with caplog.at_level(logging.DEBUG):
        against(echo, talk)

    assert TOKEN not in caplog.text
    assert "secret words" not in caplog.text
