"""Where lines come from: files, pipes, chunks, lists; compressed or not, in any Unicode encoding.

A source gives batches of lines, so that a reader can be quick with a file and prompt with a pipe: a
batch is what can be had without waiting. Damage to a compressed source is told in its place, after
the lines that could still be read.
"""

from __future__ import annotations

import errno
import gzip
import os
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, TypeAlias, cast

from dragoman.errors import UnreadableSource
from dragoman.wire.lines import DEFAULT_MAX_LINE, LineSplitter, LongLine

CHUNK: Final = 1 << 20
BATCH: Final = 1 << 16
"""How many bytes of lines are read before their messages are handed on: what fits the cache."""
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BOMS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_FOLLOW_SECONDS: Final = 0.2

Source: TypeAlias = (
    str | os.PathLike[str] | IO[bytes] | IO[str] | bytes | Iterable[bytes] | Iterable[str]
)


@dataclass(frozen=True, slots=True)
class Damage:
    """The source could not be read to its end."""

    problem: str


Line: TypeAlias = bytes | LongLine | Damage


def batches(
    source: Source, *, max_line: int = DEFAULT_MAX_LINE, follow: bool = False
) -> Iterator[list[Line]]:
    """The lines of a source, in batches. Raises ``UnreadableSource`` if it cannot be opened.

    A string or a path names a file; a file object may be binary or text; an iterable of ``bytes``
    is taken as chunks cut anywhere, one of ``str`` as lines. With ``follow`` a named file is read
    on and on, as it grows.
    """
    if isinstance(source, str | os.PathLike):
        yield from _of_path(Path(source), max_line, follow=follow)
    elif isinstance(source, bytes):
        yield from _split(_plain(iter([source])), max_line)
    elif hasattr(source, "read"):
        yield from _split(_plain(_chunks(cast("IO[Any]", source))), max_line)
    else:
        yield from _of_iterable(cast("Iterable[bytes] | Iterable[str]", source), max_line)


def _of_path(path: Path, max_line: int, *, follow: bool) -> Iterator[list[Line]]:
    with _open(path) as file:
        head = file.read(4)
        file.seek(0)
        size = os.fstat(file.fileno()).st_size
        is_plain = not head.startswith((_GZIP, _ZSTD, *_BOMS))
        if follow:
            yield from _split(_growing(path, file), max_line)
        elif is_plain and size <= max_line:
            # No line can be too long: let the file find the newlines, which is quickest.
            while batch := file.readlines(BATCH):
                yield cast("list[Line]", batch)
        else:
            yield from _split(_plain(_chunks(file)), max_line)


def _open(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise UnreadableSource(str(path), "it is a directory")
        return path.open("rb", buffering=CHUNK)
    except OSError as problem:
        reason = {errno.ENOENT: "there is no such file", errno.EACCES: "permission denied"}.get(
            problem.errno or 0, problem.strerror or str(problem)
        )
        raise UnreadableSource(str(path), reason) from problem


def _chunks(file: IO[Any]) -> Iterator[bytes]:
    """What a file object gives, as it comes: a pipe is not waited for longer than it must be."""
    read = getattr(file, "read1", file.read)
    while chunk := read(CHUNK):
        yield chunk.encode() if isinstance(chunk, str) else chunk


def _growing(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """A file that is being written: its end is only the end so far."""
    while True:
        chunk = file.read(CHUNK)
        if chunk:
            yield chunk
            continue
        yield b""  # say that nothing is left to be had without waiting
        time.sleep(_FOLLOW_SECONDS)
        try:
            if path.stat().st_size < file.tell():
                return  # cut off or replaced: what we told is all there was
        except OSError:
            return


def _of_iterable(parts: Iterable[bytes] | Iterable[str], max_line: int) -> Iterator[list[Line]]:
    iterator = iter(parts)
    first = next(iterator, None)
    if first is None:
        return
    if isinstance(first, str):
        yield [first.encode(errors="backslashreplace")]
        for line in cast("Iterator[str]", iterator):
            yield [line.encode(errors="backslashreplace")]
    else:
        yield from _split(_plain(_chain(first, cast("Iterator[bytes]", iterator))), max_line)


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _split(chunks: Iterator[bytes | Damage], max_line: int) -> Iterator[list[Line]]:
    splitter = LineSplitter(max_line)
    for chunk in chunks:
        if isinstance(chunk, Damage):
            yield [*splitter.finish(), chunk]
            return
        yield cast("list[Line]", splitter.receive(chunk))
    yield cast("list[Line]", splitter.finish())


# Compression.


def _plain(chunks: Iterator[bytes]) -> Iterator[bytes | Damage]:
    """The chunks, decompressed if they are compressed."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= 4:
            break
    if head.startswith(_GZIP):
        yield from _decompressed(_Gunzip(), _chain(head, chunks))
    elif head.startswith(_ZSTD):
        yield from _decompressed(_Unzstd(), _chain(head, chunks))
    else:
        yield head
        yield from chunks


class _Gunzip:
    """Any number of gzip members, one after the other."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def feed(self, data: bytes) -> bytes:
        out = self._inner.decompress(data)
        while self._inner.eof and self._inner.unused_data:
            rest = self._inner.unused_data
            self._inner = zlib.decompressobj(wbits=31)
            out += self._inner.decompress(rest)
        return out

    @property
    def is_whole(self) -> bool:
        return self._inner.eof


class _Unzstd:
    """Any number of Zstandard frames, one after the other."""

    def __init__(self) -> None:
        self._inner = _zstd().ZstdDecompressor()
        self._inner_is_new = True

    def feed(self, data: bytes) -> bytes:
        out = b""
        while data:
            if self._inner.eof:
                self._inner = _zstd().ZstdDecompressor()
            out += self._inner.decompress(data)
            data = self._inner.unused_data if self._inner.eof else b""
        return out

    @property
    def is_whole(self) -> bool:
        return self._inner.eof


def _zstd() -> Any:
    try:
        from compression import zstd  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    except ImportError:
        from backports import zstd
    return zstd  # pyright: ignore[reportUnknownVariableType]


def _decompressed(tool: _Gunzip | _Unzstd, chunks: Iterator[bytes]) -> Iterator[bytes | Damage]:
    for chunk in chunks:
        try:
            yield tool.feed(chunk)
        except (zlib.error, gzip.BadGzipFile, EOFError, ValueError, _zstd().ZstdError) as problem:
            yield Damage(f"compressed data is damaged: {problem}")
            return
    if not tool.is_whole:
        yield Damage("compressed data ends early")
