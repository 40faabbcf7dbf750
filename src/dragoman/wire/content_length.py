"""Messages between ``Content-Length`` headers, as language servers frame them, to lines and back.

Each message is one line without its newline, with any white space it was sent with: JSON has no newline that
means anything. What is between messages and is no header is kept as a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dragoman.wire.lines import DEFAULT_MAX_LINE, LongLine

_END: Final = b"\r\n\r\n"
_NAME: Final = b"content-length"
_LONGEST_HEAD: Final = 8192
_KEEP: Final = 4096


class ContentLengthSplitter:
    """Splits a stream of bytes into messages, however it is chunked."""

    def __init__(self, max_line: int | None = DEFAULT_MAX_LINE) -> None:
        self._limit = max_line if max_line is not None else 1 << 62
        self._parts: list[bytes] = []
        self._held = 0
        self._length: int | None = None
        """The length of the message that is being read; None between two."""
        self._ends = b""
        """What is kept of a message that is too long."""
        self._read = 0
        """How much was read."""

    def receive(self, chunk: bytes) -> list[bytes | LongLine]:
        """The messages that ``chunk`` completes, in order."""
        self._parts.append(chunk)
        self._held += len(chunk)
        lines: list[bytes | LongLine] = []
        while self._advance(lines):
            pass
        return lines

    def finish(self) -> list[bytes | LongLine]:
        """End the stream; return what was cut off."""
        rest = b"".join(self._parts)
        self._parts, self._held, self._length = [], 0, None
        return [_one_line(rest)] if rest.strip() else []

    def _advance(self, lines: list[bytes | LongLine]) -> bool:
        if self._length is None:
            return self._read_head(lines)
        if self._length > self._limit:
            return self._read_long(self._length, lines)
        if self._held < self._length:
            return False
        data = b"".join(self._parts)
        lines.append(_one_line(data[: self._length]))
        self._keep(data[self._length :])
        self._length = None
        return bool(self._held)

    def _read_long(self, length: int, lines: list[bytes | LongLine]) -> bool:
        """Read on in a message that is too long to keep: only its ends are kept."""
        data = b"".join(self._parts)
        part = data[: length - self._read]
        self._read += len(part)
        joined = self._ends + part
        if len(joined) > 2 * _KEEP:
            joined = joined[:_KEEP] + joined[-_KEEP:]
        self._ends = joined
        self._keep(data[len(part) :])
        if self._read < length:
            return False
        lines.append(LongLine(head=joined[:_KEEP], tail=joined[-_KEEP:], length=length))
        self._length, self._ends, self._read = None, b"", 0
        return bool(self._held)

    def _read_head(self, lines: list[bytes | LongLine]) -> bool:
        data = b"".join(self._parts)
        head, end, rest = data.partition(_END)
        if not end:
            self._keep(data)
            return self._drop_noise(data, lines)
        length = _length_in(head)
        if length is None:  # something else was printed in between
            newline = data.find(b"\n")
            noise, rest = data[:newline], data[newline + 1 :]
            if noise.strip():
                lines.append(noise.rstrip(b"\r"))
        else:
            self._length = length
        self._keep(rest)
        return bool(rest) or length == 0

    def _drop_noise(self, data: bytes, lines: list[bytes | LongLine]) -> bool:
        """Take a line that begins no header, so that a program that prints words is not waited for."""
        line, newline, rest = data.partition(b"\n")
        looks_right = line[: len(_NAME)].lower() == _NAME[: len(line)] or b":" in line
        if not newline or (looks_right and len(data) < _LONGEST_HEAD):
            return False
        if line.strip():
            lines.append(line.rstrip(b"\r"))
        self._keep(rest)
        return bool(rest)

    def _keep(self, data: bytes) -> None:
        self._parts, self._held = ([data], len(data)) if data else ([], 0)


def framed(lines: Iterable[bytes]) -> bytes:
    """Lines as messages with their headers."""
    bodies = [line.strip() for line in lines]
    return b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)


def _length_in(head: bytes) -> int | None:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == _NAME and value.strip().isdigit() and len(value) < 20:
            return int(value)
    return None


def _one_line(body: bytes) -> bytes:
    return body.replace(b"\r\n", b" ").replace(b"\n", b" ") if b"\n" in body else body
