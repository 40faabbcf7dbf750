"""Decompress gzip and Zstandard incrementally, recovering as much as possible from a damaged source."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final, Protocol

import msgspec

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
MAGIC: Final = (_GZIP, _ZSTD)
"""The first bytes of each supported compression format."""
_PIECE: Final = 4096
"""How many compressed bytes are decoded at a time: the most that damage can cost."""
_MOST_AT_ONCE: Final = 1 << 20
"""The most decompressed bytes produced in one step."""
_FREE: Final = 1 << 26
_MOST_TIMES: Final = 1000
"""The largest allowed expansion once the output exceeds ``_FREE``. Session files expand 3 to 30 times."""


class Damage(msgspec.Struct, frozen=True):
    """The source could not be read to its end."""

    problem: str
    is_bomb: bool = False
    """Whether reading stopped because the output exceeded the expansion limit."""


class _Decompressor(Protocol):
    def feed(self, piece: bytes) -> Iterator[bytes]: ...
    @property
    def is_whole(self) -> bool: ...


def decompressed(chunks: Iterator[bytes]) -> Iterator[bytes | Damage]:
    """Yield the chunks, decompressed if their first bytes say that they are compressed."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= 4:
            break
    if head.startswith(_GZIP):
        yield from _undone(_Gunzip(), head, chunks)
    elif head.startswith(_ZSTD):
        yield from _undone(_Unzstd(), head, chunks)
    else:
        yield head
        yield from chunks


def _undone(tool: _Decompressor, head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes | Damage]:
    try:
        yield from _bounded(tool, chain([head], chunks))
    except _ExpansionLimit as problem:
        yield Damage(str(problem), is_bomb=True)
        return
    except (zlib.error, zstd().ZstdError) as problem:
        yield Damage(f"compressed data is damaged: {problem}")
        return
    if not tool.is_whole:
        yield Damage("compressed data ends early")


class _ExpansionLimit(Exception):
    """The output is far larger than any real session: probably a decompression bomb."""


def _bounded(tool: _Decompressor, chunks: Iterable[bytes]) -> Iterator[bytes]:
    went_in = came_out = 0
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE):
            piece = chunk[start : start + _PIECE]
            went_in += len(piece)
            for out in tool.feed(piece):
                came_out += len(out)
                if came_out > max(_FREE, went_in * _MOST_TIMES):
                    raise _ExpansionLimit(
                        f"compressed data grows more than {_MOST_TIMES}-fold: "
                        f"{went_in} bytes became {came_out >> 20} MiB, and the limit is "
                        f"{max(_FREE, went_in * _MOST_TIMES) >> 20} MiB; the rest was not read. "
                        "If you trust the file, decompress it first"
                    )
                yield out


class _Gunzip:
    """Decompresses any number of concatenated gzip members."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def feed(self, piece: bytes) -> Iterator[bytes]:
        before, given = self._inner.copy(), 0
        try:
            for out in self._undo(piece):
                yield out
                given += len(out)
        except zlib.error:
            self._inner = before
            for byte in range(len(piece)):  # up to the damaged byte
                for out in self._undo(piece[byte : byte + 1]):
                    yield out[given:]
                    given -= min(given, len(out))

    def _undo(self, piece: bytes) -> Iterator[bytes]:
        while piece:
            if self._inner.eof:
                self._inner = zlib.decompressobj(wbits=31)
            yield self._inner.decompress(piece, _MOST_AT_ONCE)
            piece = self._inner.unused_data if self._inner.eof else self._inner.unconsumed_tail

    @property
    def is_whole(self) -> bool:
        return self._inner.eof


class _Unzstd:
    """Decompresses any number of concatenated Zstandard frames."""

    def __init__(self) -> None:
        self._inner = zstd().ZstdDecompressor()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        while piece:
            if self._inner.eof:
                self._inner = zstd().ZstdDecompressor()
            yield self._inner.decompress(piece, _MOST_AT_ONCE)
            while not self._inner.eof and not self._inner.needs_input:
                yield self._inner.decompress(b"", _MOST_AT_ONCE)
            piece = self._inner.unused_data if self._inner.eof else b""

    @property
    def is_whole(self) -> bool:
        return self._inner.eof


def zstd() -> Any:
    """Return the Zstandard module: the standard library's, or its backport."""
    try:
        from compression import zstd  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    except ImportError:
        from backports import zstd
    return zstd  # pyright: ignore[reportUnknownVariableType]
