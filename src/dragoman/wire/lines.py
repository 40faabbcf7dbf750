"""Split a stream of bytes into lines, however it is chunked.

This is the only place that deals with chunks: the lines are the same however the bytes arrive. It knows
nothing about JSON or the source of the bytes.

A chunk is split at its newlines in one step. The rest after the last newline is kept in a list and joined with
what follows once its newline arrives. So every byte is examined once and copied once, even if a line of many
megabytes arrives in small pieces.
"""

from __future__ import annotations

import codecs

import msgspec

DEFAULT_MAX_LINE = 1 << 26
"""64 MiB: more than any line that a harness has written, and a bound for a line that never ends."""

_KEEP = 4096
_NO_LIMIT = 1 << 62

_ENCODINGS = {
    codecs.BOM_UTF8: None,  # nothing to do once the mark is gone
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class LongLine(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that are kept of a line longer than the limit."""

    head: bytes
    tail: bytes
    length: int
    """The length of the whole line in bytes of UTF-8, without its newline."""


class LineSplitter:
    """Splits one stream of bytes into lines at ``\\n`` and nowhere else.

    Feed it with :meth:`receive`, and call :meth:`finish` when the stream ends. Lines have no
    newline; a ``\\r`` before it is kept, because it is white space in JSON. A byte order mark at the
    start of the stream is removed, and UTF-16 (as written by a PowerShell redirect) becomes UTF-8
    with U+FFFD for what cannot be decoded. All other bytes are unchanged.

    A line of more than ``max_line`` bytes becomes a :class:`LongLine` when its end arrives; until
    then at most ``max_line`` bytes are held. ``None`` means no limit at all.
    """

    def __init__(self, max_line: int | None = DEFAULT_MAX_LINE) -> None:
        if max_line is not None and max_line < 1:
            raise ValueError(f"max_line must be at least 1, not {max_line}")
        self._limit = _NO_LIMIT if max_line is None else max_line
        # Head and tail of a long line never overlap and together fit into the limit.
        self._keep = max(1, min(_KEEP, self._limit // 2))
        self._start_stream()
        self._start_line()

    def receive(self, chunk: bytes) -> list[bytes | LongLine]:
        """The lines that ``chunk`` completes, in order."""
        if self._opening is not None or self._decoder is not None:
            chunk = self._to_utf8(chunk)
        return self._split(chunk)

    def finish(self) -> list[bytes | LongLine]:
        """End the stream; return the last line if it had no newline and is not empty.

        The splitter is then ready for another stream.
        """
        lines = self._split(self._to_utf8(b"", final=True))
        if self._length:
            lines.append(self._end_line(b""))
        self._start_stream()
        return lines

    @property
    def pending(self) -> bytes:
        """The incomplete last line: all of it, or its head if it is too long."""
        return self._head or b"".join(self._parts)

    def _split(self, chunk: bytes) -> list[bytes | LongLine]:
        pieces = chunk.split(b"\n")
        rest = pieces.pop()
        lines: list[bytes | LongLine] = [*pieces]
        if pieces:
            lines[0] = self._end_line(pieces[0])
            # A chunk within the limit contains no longer line, so the usual case ends here.
            if len(chunk) > self._limit:
                lines[1:] = map(self._shorten, pieces[1:])
        if rest:
            self._add(rest)
        return lines

    # The incomplete line.

    def _start_line(self) -> None:
        self._parts: list[bytes] = []
        self._head = b""  # head and tail stay empty until the line is too long
        self._tail = b""
        self._length = 0

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        if self._length <= self._limit:
            self._parts.append(part)
            return
        if not self._head:
            part = b"".join([*self._parts, part])
            self._head = part[: self._keep]
            self._parts = []
        self._tail = (self._tail + part[-self._keep :])[-self._keep :]

    def _end_line(self, last: bytes) -> bytes | LongLine:
        if not self._length:
            return self._shorten(last)
        self._add(last)
        line = (
            LongLine(head=self._head, tail=self._tail, length=self._length)
            if self._head
            else b"".join(self._parts)
        )
        self._start_line()
        return line

    def _shorten(self, line: bytes) -> bytes | LongLine:
        if len(line) <= self._limit:
            return line
        return LongLine(head=line[: self._keep], tail=line[-self._keep :], length=len(line))

    # The encoding, which the first bytes of a stream decide.

    def _start_stream(self) -> None:
        self._opening: bytes | None = b""  # None once decided
        self._decoder: codecs.IncrementalDecoder | None = None

    def _to_utf8(self, chunk: bytes, *, final: bool = False) -> bytes:
        if self._opening is not None:
            chunk = self._opening + chunk
            if not final and any(
                len(chunk) < len(mark) and mark.startswith(chunk) for mark in _ENCODINGS
            ):
                self._opening = chunk
                return b""
            self._opening = None
            for mark, encoding in _ENCODINGS.items():
                if chunk.startswith(mark):
                    chunk = chunk[len(mark) :]
                    if encoding:
                        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        if self._decoder is None:
            return chunk
        return self._decoder.decode(chunk, final).encode("utf-8")


def shortened(line: bytes | LongLine) -> bytes | LongLine:
    """The line, or only its ends if it is longer than they are."""
    if isinstance(line, LongLine) or len(line) <= 2 * _KEEP:
        return line
    return LongLine(head=line[:_KEEP], tail=line[-_KEEP:], length=len(line))
