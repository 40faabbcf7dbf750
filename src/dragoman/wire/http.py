"""HTTP/1.1 as a client sees it: a request to bytes, and the bytes of one response, however they are chunked.

Only what a server on loopback needs: one response for each connection, a body with a length, in chunks, or up to the
end of the connection. What is no response, and what is too long, raises :class:`BrokenResponse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_END: Final = b"\r\n\r\n"
_LONGEST_HEAD: Final = 1 << 16
_LONGEST_SIZE: Final = 1024
"""A line with the length of a chunk, or a trailer."""
_WITHOUT_BODY: Final = frozenset((204, 304))


class BrokenResponse(Exception):
    """What the server sent is no response, or is longer than allowed."""


def request(
    method: str, path: str, *, host: str, headers: Mapping[str, str], body: bytes = b""
) -> bytes:
    """A request for a connection of its own, as bytes. Raises ``ValueError`` for what would end a line."""
    if " " in method + path:
        raise ValueError("the method and the path of a request must not have spaces")
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body or method not in ("GET", "HEAD"):
        lines.append(f"Content-Length: {len(body)}")
    if any(char < " " for line in lines for char in line):
        raise ValueError("a request must not have control characters")
    return "\r\n".join(lines).encode("utf-8") + _END + body


class ResponseReader:
    """Reads one response."""

    def __init__(self) -> None:
        self.status: int | None = None
        """Known as soon as the headers are complete."""
        self.headers: dict[str, str] = {}
        self.is_complete = False
        self._held = b""
        self._left: int | None = None
        """How much of the body, or of a chunk, is still to come; None: up to the end of the connection."""
        self._is_chunked = False
        self._in_chunk = False
        self._in_trailers = False

    @property
    def content_type(self) -> str:
        """The kind of the body, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def receive(self, data: bytes) -> bytes:
        """Take what arrived; return what it holds of the body. Raises :class:`BrokenResponse`."""
        self._held += data
        if self.status is None and not self._read_head():
            return b""
        if self.is_complete:
            return b""
        return self._chunks() if self._is_chunked else self._plain()

    def finish(self) -> None:
        """The connection has ended. Raises :class:`BrokenResponse` if the response has not."""
        if self.status is not None and self._left is None and not self._is_chunked:
            self.is_complete = True
        if not self.is_complete:
            raise BrokenResponse("the connection ended in the middle of a response")

    def _read_head(self) -> bool:
        head, end, rest = self._held.partition(_END)
        if not end:
            if len(self._held) > _LONGEST_HEAD:
                raise BrokenResponse("the headers are too long")
            return False
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ", 2)
        if len(words) < 2 or not words[0].startswith("HTTP/1.") or not _is_number(words[1]):
            raise BrokenResponse(f"this is not an HTTP response: {first[:80]!r}")
        status = int(words[1])
        if 100 <= status < 200:  # an interim response: the real one follows
            self._held = rest
            return bool(rest) and self._read_head()
        for line in lines:
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        self.status, self._held = status, rest
        self._is_chunked = "chunked" in self.headers.get("transfer-encoding", "").lower()
        length = self.headers.get("content-length")
        if length is not None and not self._is_chunked:
            if not _is_number(length):
                raise BrokenResponse(f"a body of {length[:40]!r} bytes")
            self._left = int(length)
        if status in _WITHOUT_BODY:
            self._left, self._is_chunked = 0, False
        self.is_complete = self._left == 0
        return True

    def _plain(self) -> bytes:
        if self._left is None:
            body, self._held = self._held, b""
            return body
        body, self._held = self._held[: self._left], b""
        self._left -= len(body)
        self.is_complete = self._left == 0
        return body

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while not self.is_complete:
            if self._in_chunk:
                assert self._left is not None
                part = self._held[: self._left]
                self._held = self._held[len(part) :]
                self._left -= len(part)
                parts.append(part)
                if self._left or len(self._held) < 2:
                    break
                self._held, self._in_chunk = self._held[2:], False  # the newline after the chunk
            elif (line := self._line()) is None:
                break
            elif self._in_trailers:
                self.is_complete = not line
            else:
                self._begin_chunk(line)
        return b"".join(parts)

    def _line(self) -> bytes | None:
        line, end, rest = self._held.partition(b"\r\n")
        if not end:
            if len(self._held) > _LONGEST_SIZE:
                raise BrokenResponse("the length of a chunk is missing")
            return None
        self._held = rest
        return line

    def _begin_chunk(self, line: bytes) -> None:
        words = line.partition(b";")[0].strip()
        try:
            self._left = int(words, 16) if len(words) < 16 else -1
        except ValueError:
            self._left = -1
        if self._left < 0:
            raise BrokenResponse(f"a chunk of {words[:40]!r} bytes")
        self._in_chunk, self._in_trailers = self._left > 0, self._left == 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16
