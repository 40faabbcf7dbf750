"""Just enough HTTP/1.1 for one well-behaved client on loopback: requests in, responses out.

asyncio's streams alone, without a library: the client is a known program, bodies are JSON, answers
are whole or chunked, and a fault is a connection closed in the wrong moment, which a library would
try to prevent.
"""

from __future__ import annotations

import asyncio
import gzip
import sys
import zlib

import msgspec

MAX_HEAD = 1 << 18
MAX_BODY = 1 << 30


class MalformedHttp(Exception):
    """The client does not speak HTTP as we know it."""


class Received(msgspec.Struct, frozen=True):
    """A request as it came, its body decompressed."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


async def receive(reader: asyncio.StreamReader) -> Received | None:
    """The next request, or None when the client is done."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        if end.partial.strip():
            raise MalformedHttp("the connection ended in the middle of a request") from end
        return None
    except asyncio.LimitOverrunError as problem:
        raise MalformedHttp("the headers are too long") from problem
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise MalformedHttp(f"this is not an HTTP request: {first[:80]!r}")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await _body(reader, headers)
    return Received(words[0], words[1], headers, decompress(body, headers))


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    try:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return await _chunks(reader)
        length = int(headers.get("content-length", "0"))
        if not 0 <= length <= MAX_BODY:
            raise MalformedHttp(f"a body of {length} bytes")
        return await reader.readexactly(length)
    except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as problem:
        raise MalformedHttp(f"the body is broken: {problem}") from problem


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass  # trailers say nothing that we need
    return b"".join(parts)


def decompress(body: bytes, headers: dict[str, str]) -> bytes:
    """The body as it was before the client compressed it."""
    encoding = headers.get("content-encoding", "identity").lower()
    try:
        match encoding:
            case "identity" | "":
                return body
            case "gzip":
                return gzip.decompress(body)
            case "deflate":
                return zlib.decompress(body)
            case "zstd":
                return _unzstd(body)
            case _:
                raise MalformedHttp(f"a body in the unknown encoding {encoding!r}")
    except (OSError, EOFError, zlib.error) as problem:
        raise MalformedHttp(f"the body is not {encoding}: {problem}") from problem


def _unzstd(body: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    try:
        return zstd.decompress(body)
    except zstd.ZstdError as problem:
        raise MalformedHttp(f"the body is not zstd: {problem}") from problem


_REASONS = {
    **{200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"},
    **{429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable"},
}


def head(status: int, headers: dict[str, str], length: int | None) -> bytes:
    """The beginning of a response; without a length, its body comes in chunks."""
    framing = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Rehearsed')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, framing, "", ""]).encode("latin-1", "replace")


def chunk(data: bytes) -> bytes:
    """One chunk of a body; an empty one ends it."""
    return b"%x\r\n%b\r\n" % (len(data), data)
