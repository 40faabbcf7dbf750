"""Requests to bytes, and responses from bytes, whatever their chunks."""

from __future__ import annotations

import pytest

from dragoman.wire.http import BrokenResponse, ResponseReader, request

_LENGTH = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=x\r\nContent-Length: 7\r\n\r\n"
)
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def _read(data: bytes, size: int) -> tuple[ResponseReader, bytes]:
    reader = ResponseReader()
    body = b"".join(reader.receive(data[i : i + size]) for i in range(0, len(data), size))
    return reader, body


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("data", "body"),
    [
        (_LENGTH + b'{"a":1}', b'{"a":1}'),
        (_CHUNKED + b"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: 1\r\n\r\n", b"abcdefg"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + _LENGTH + b"1234567", b"1234567"),
    ],
)
def test_a_response_is_the_same_whatever_its_chunks(data: bytes, body: bytes, size: int) -> None:
    reader, got = _read(data, size)

    assert (got, reader.is_complete) == (body, True)
    assert reader.status == (204 if not body else 200)
    reader.finish()


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    reader, got = _read(b"HTTP/1.1 200 OK\r\n\r\nall of it", 4)

    assert (got, reader.is_complete) == (b"all of it", False)
    reader.finish()
    assert reader.is_complete


def test_the_kind_of_the_body_has_no_parameters() -> None:
    assert _read(_LENGTH, 1000)[0].content_type == "application/json"


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\n",
        _CHUNKED + b"xyz\r\n",
        _CHUNKED + b"-3\r\nabc\r\n",
        _CHUNKED + b"f" * 2000,
        b"HTTP/1.1 200 OK\r\n" + b"x" * 70_000,
    ],
)
def test_what_is_no_response_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenResponse):
        _read(data, 1 << 20)


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 2", _LENGTH + b"123", _CHUNKED + b"3\r\nab"])
def test_a_response_that_is_cut_off_is_not_taken_for_whole(data: bytes) -> None:
    reader = ResponseReader()
    reader.receive(data)

    with pytest.raises(BrokenResponse, match="in the middle"):
        reader.finish()


def test_a_request_has_its_length_and_ends_the_connection() -> None:
    data = request("POST", "/a?b=c", host="h:1", headers={"X": "y"}, body=b"{}")

    head, _, body = data.partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"POST /a?b=c HTTP/1.1",
        b"Host: h:1",
        b"Connection: close",
        b"X: y",
        b"Content-Length: 2",
    ]
    assert body == b"{}"
    assert b"Content-Length" not in request("GET", "/", host="h", headers={})


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/a\r\nX: y", {}),
        ("/a b", {}),
        ("/", {"X": "a\r\nY: b"}),
    ],
)
def test_a_request_cannot_smuggle_a_header(path: str, headers: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must not have"):
        request("GET", path, host="h", headers=headers)
