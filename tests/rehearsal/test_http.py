from __future__ import annotations

import asyncio
import gzip
import sys
import zlib

import pytest

from dragoman.rehearsal import http

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def _receive(data: bytes, *, limit: int = http.MAX_HEAD) -> list[http.Received | None]:
    async def receive() -> list[http.Received | None]:
        reader = asyncio.StreamReader(limit=limit)
        reader.feed_data(data)
        reader.feed_eof()
        received: list[http.Received | None] = []
        async with asyncio.timeout(5):
            while not received or received[-1] is not None:
                received.append(await http.receive(reader))
        return received

    return asyncio.run(receive())


def test_requests_follow_one_another_on_a_connection() -> None:
    one = b"POST /a?b HTTP/1.1\r\nContent-Length: 2\r\nX-Odd:  y \r\n\r\nhi"

    first, second, end = _receive(one + b"GET /c HTTP/1.1\r\n\r\n")

    assert first == http.Received("POST", "/a?b", {"content-length": "2", "x-odd": "y"}, b"hi")
    assert second == http.Received("GET", "/c", {}, b"")
    assert end is None


def test_a_chunked_body_is_put_together() -> None:
    head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"

    first, _ = _receive(head + b"3;x=y\r\nabc\r\na\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n")

    assert first is not None
    assert first.body == b"abc0123456789"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("identity", b"hello"),
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("deflate", zlib.compress(b"hello")),
        ("zstd", zstd.compress(b"hello")),
    ],
)
def test_a_compressed_body_is_decompressed(encoding: str, body: bytes) -> None:
    assert http.decompress(body, {"content-encoding": encoding}) == b"hello"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "br"])
def test_a_body_that_is_not_what_it_says_is_refused(encoding: str) -> None:
    with pytest.raises(http.MalformedHttp):
        http.decompress(b"hello", {"content-encoding": encoding})


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Len",
        b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhi",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nX: " + b"x" * 5000,
    ],
)
def test_what_is_not_http_is_refused(data: bytes) -> None:
    with pytest.raises(http.MalformedHttp):
        _receive(data, limit=1000)


def test_a_response_has_a_length_or_comes_in_chunks() -> None:
    assert http.head(200, {"a": "b"}, 3) == b"HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 3\r\n\r\n"
    assert http.head(418, {}, None) == (
        b"HTTP/1.1 418 Rehearsed\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    assert http.chunk(b"0123456789") == b"a\r\n0123456789\r\n"
    assert http.chunk(b"") == b"0\r\n\r\n"
