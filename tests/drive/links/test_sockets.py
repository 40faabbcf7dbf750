from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import ssl
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.links.link import Link
from dragoman.drive.links.sockets import open_address, parse_address
from dragoman.errors import ProcessExited, ResponseError, UsageError
from support.agents.remote_ends import SECONDS, Heard, free_port, is_listening, poll, serving_codex

TOKEN = "a-token-that-nobody-shall-see"
GREETING = {
    "id": 0,
    "method": "initialize",
    "params": {"clientInfo": {"name": "t", "version": "1"}},
}


async def opened(address: str, **options: Any) -> tuple[Link, Heard]:
    heard = Heard()
    async with asyncio.timeout(SECONDS):
        return await open_address(address, **options)(heard.receive, heard.close), heard


def line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


async def answer(link: Link, heard: Heard, request: dict[str, Any]) -> dict[str, Any]:
    """What a server says to a request."""

    def found() -> list[dict[str, Any]]:
        said = [json.loads(line) for line in heard.lines]
        return [one for one in said if one.get("id") == request["id"]]

    link.send([line(request)])
    await heard.until(lambda: bool(found()))
    return found()[0]


# Addresses.


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("unix:///run/a%20b.sock", "unix:///run/a b.sock"),
        ("ws://127.0.0.1:4500", "ws://127.0.0.1:4500"),
        ("ws://[::1]:4500/rpc?token=x", "ws://[::1]:4500"),
        ("wss://example.org", "wss://example.org:443"),
        ("ws://localhost", "ws://localhost:80"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(address: str, shown: str) -> None:
    assert str(parse_address(address)) == shown


@pytest.mark.parametrize(
    "address",
    [
        "",
        "/run/x.sock",
        "http://127.0.0.1:1",
        "unix://",
        "unix://x.sock",
        "ws://",
        "ws://:4500",
        "ws://127.0.0.1:port",
        "ws://ann:secret@127.0.0.1:4500",
        "ws://[::1",
    ],
)
def test_an_address_that_cannot_be_used_is_refused(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_address(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org", "0.0.0.0", "localhost.example.org"])
def test_another_machine_is_not_spoken_to_in_the_clear_unless_told(host: str) -> None:
    with pytest.raises(UsageError, match="use wss://"):
        open_address(f"ws://{host}:4500", token=TOKEN)
    open_address(f"ws://{host}:4500", token=TOKEN, insecure=True)
    open_address(f"wss://{host}:4500", token=TOKEN)


@pytest.mark.parametrize("token", ["", " ", "two\nlines", "a\r\nX-Header: b", "schlüssel"])
def test_a_token_that_is_not_one_printable_line_is_refused(token: str) -> None:
    with pytest.raises(UsageError, match="printable ASCII") as caught:
        open_address("ws://127.0.0.1:4500", token=token)
    assert not token.strip() or token not in str(caught.value)


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", find_nothing)

    with pytest.raises(UsageError, match=r"pip install 'dragoman\[ws\]'"):
        open_address("ws://127.0.0.1:4500")


# Nobody there.


def test_a_port_where_nobody_listens_may_be_tried_again() -> None:
    with pytest.raises(ProcessExited, match="could not connect to the server") as caught:
        asyncio.run(opened(f"ws://127.0.0.1:{free_port()}"))
    assert caught.value.retryable


def test_a_socket_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProcessExited, match=r"none\.sock: could not connect") as caught:
        asyncio.run(opened(f"unix://{tmp_path}/none.sock"))
    assert not caught.value.retryable


def test_a_server_without_tls_is_not_spoken_to_as_if_it_had_it() -> None:
    async def talk() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(100)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            await opened(f"wss://127.0.0.1:{port}", tls=ssl.create_default_context())

    with pytest.raises(ProcessExited) as caught:
        asyncio.run(talk())
    assert not caught.value.retryable


# A real server.


def test_a_real_server_on_a_unix_socket_serves_several_one_after_the_other(tmp_path: Path) -> None:
    place = tmp_path / "s.sock"

    async def talk() -> None:
        for _ in range(2):
            link, heard = await opened(f"unix://{place}")
            said = await answer(link, heard, GREETING)
            assert "userAgent" in said["result"]
            ended = await link.stop()
            assert ended.reason == "we closed the connection"
            assert heard.closed == 1

    with serving_codex(tmp_path, "--listen", f"unix://{place}", ready=place.exists):
        asyncio.run(talk())


def test_a_real_server_wants_its_token_as_a_bearer(tmp_path: Path) -> None:
    port = free_port()
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    address = f"ws://127.0.0.1:{port}"

    async def talk() -> None:
        link, heard = await opened(address, token=TOKEN)
        assert "result" in await answer(link, heard, GREETING)
        await link.stop()
        with pytest.raises(ResponseError, match="missing websocket bearer token"):
            await opened(address)
        with pytest.raises(ResponseError, match="invalid websocket bearer token") as caught:
            await opened(address, token=f"not-{TOKEN}")
        assert caught.value.code == 401
        assert TOKEN not in str(caught.value)

    with serving_codex(
        tmp_path,
        *("--listen", address, "--ws-auth", "capability-token", "--ws-token-sha256", digest),
        ready=lambda: is_listening(port),
    ):
        asyncio.run(talk())


def test_a_real_server_takes_lines_longer_than_its_largest_frame(tmp_path: Path) -> None:
    port = free_port()
    long = {"id": 1, "method": "config/read", "params": {"filler": "☃" * (6 << 20)}}

    async def talk() -> None:
        link, heard = await opened(f"ws://127.0.0.1:{port}")
        await answer(link, heard, GREETING)
        text = json.dumps(long, ensure_ascii=False).encode()
        assert len(text) > 16 << 20
        link.send([text + b"\n"])
        await heard.until(lambda: any(b'"id":1' in line for line in heard.lines))
        await link.stop()

    with serving_codex(
        tmp_path, "--listen", f"ws://127.0.0.1:{port}", ready=lambda: is_listening(port)
    ):
        asyncio.run(talk())


def test_the_end_of_a_real_server_is_the_end_of_the_link(tmp_path: Path) -> None:
    port = free_port()

    async def talk(pid: int) -> str:
        link, heard = await opened(f"ws://127.0.0.1:{port}")
        await answer(link, heard, GREETING)
        os.kill(pid, 9)
        await heard.end()
        assert link.exit is not None
        assert link.exit.code is None
        await link.stop()
        return link.exit.reason

    with serving_codex(
        tmp_path, "--listen", f"ws://127.0.0.1:{port}", ready=lambda: is_listening(port)
    ) as pid:
        assert asyncio.run(talk(pid)).startswith("the connection broke off")
    assert poll(lambda: not is_listening(port))
