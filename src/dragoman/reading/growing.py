"""Read a file that another program may be writing: each complete line once, in order.

A line is returned once its newline is there. The file may be moved, or compressed by its harness
(``….jsonl`` becomes ``….jsonl.zst``, and back on resume); reading continues at the same position.
If the file is truncated or replaced, ``is_replaced`` is set and nothing more is returned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BufferedReader
from typing import Final

from dragoman.reading.compression import MAGIC, Damage, decompressed
from dragoman.reading.regular import open_regular
from dragoman.wire.lines import DEFAULT_MAX_LINE, LineSplitter, LongLine

_CHUNK: Final = 1 << 18
_TAIL: Final = 256
"""How many bytes before the current position must be unchanged for a file to count as the same one."""
_COMPRESSED: Final = ".zst"


class GrowingFile:
    """``lines()`` returns what was added since the last call; ``rest`` is the incomplete last line."""

    def __init__(self, path: str, *, offset: int = 0, max_line: int = DEFAULT_MAX_LINE) -> None:
        """``offset`` is where to start and must be the beginning of a line."""
        self.path = path
        self.offset = offset
        """How many bytes were read, counted in uncompressed bytes."""
        self.is_replaced = False
        """Whether another file took its place. None of the new content was returned."""
        self._splitter = LineSplitter(max_line)
        self._tail = b""
        self._owes_newline = False
        self._file: BufferedReader | None = None
        self._seen: tuple[int, ...] | None = None
        """The identity of a compressed file when it was last read."""

    def close(self) -> None:
        """Close the file. The next call of ``lines()`` opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def rest(self) -> bytes:
        """The incomplete last line."""
        return self._splitter.pending

    def take_rest(self) -> None:
        """Mark the rest as consumed, as a complete line. Its newline, once written, is skipped."""
        self._splitter.finish()
        self._owes_newline = True

    def lines(self) -> Iterator[list[bytes | LongLine]]:
        """Yield the newly completed lines in batches. Raises ``OSError`` if the file does not exist."""
        if self.is_replaced:
            return
        if self._file is not None and not self._is_still_there(self._file):
            # The open handle still has what was written before the file was moved or deleted.
            yield from self._plain(self._file)
            self.close()
        if self._file is None:
            path = self._where()
            file = open_regular(path)
            if file.peek(4)[:4].startswith(MAGIC):
                with file:
                    yield from self._packed(file)
                return
            self._file = file
            self._seen = None
        yield from self._plain(self._file)

    def _where(self) -> str:
        """Return the current path, which changes when the file is compressed or decompressed."""
        path = self.path
        if not os.path.exists(path):
            other = path.removesuffix(_COMPRESSED)
            other = other if other != path else path + _COMPRESSED
            if os.path.exists(other):
                self.path = path = other
        return path

    def _is_still_there(self, file: BufferedReader) -> bool:
        try:
            there = os.stat(self.path)
        except OSError:
            return False
        here = os.fstat(file.fileno())
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

    def _plain(self, file: BufferedReader) -> Iterator[list[bytes | LongLine]]:
        if os.fstat(file.fileno()).st_size < self.offset:
            self.is_replaced = True
            return
        # A file of the right size may still be another one. Compare the bytes before the position, so
        # that lines of a replaced file are never continued from the middle.
        begin = self.offset - len(self._tail)
        file.seek(begin)
        if file.read(len(self._tail)) != self._tail:
            self.is_replaced = True
            return
        while chunk := file.read(_CHUNK):
            yield self._take(chunk)

    def _packed(self, file: BufferedReader) -> Iterator[list[bytes | LongLine]]:
        state = os.fstat(file.fileno())
        seen = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
        if seen == self._seen:
            return
        self._seen = seen
        place, before = 0, b""
        for chunk in decompressed(iter(lambda: file.read(_CHUNK), b"")):
            if isinstance(chunk, Damage):
                break  # the compressed file may not be completely written yet
            start, place = place, place + len(chunk)
            if place <= self.offset:
                before = (before + chunk)[-_TAIL:]
                continue
            if start <= self.offset:
                known = self.offset - start
                if not (before + chunk[:known]).endswith(self._tail):
                    self.is_replaced = True
                    return
                chunk = chunk[known:]
            yield self._take(chunk)

    def _take(self, chunk: bytes) -> list[bytes | LongLine]:
        self.offset += len(chunk)
        self._tail = (self._tail + chunk[-_TAIL:])[-_TAIL:]
        if self._owes_newline:
            self._owes_newline = False
            chunk = chunk.removeprefix(b"\r").removeprefix(b"\n")
        return self._splitter.receive(chunk)
