"""Undoing gzip and Zstandard, piece by piece, with as much as can be had of a damaged source."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
MAGIC: Final = (_GZIP, _ZSTD)
"""How compressed sources begin."""
_PIECE: Final = 4096
"""How much is undone in one go: what is lost at most when it turns out to be damaged."""


@dataclass(frozen=True, slots=True)
class Damage:
    """The source could not be read to its end."""

    problem: str


class _Tool(Protocol):
    def feed(self, piece: bytes) -> Iterator[bytes]: ...
    @property
    def is_whole(self) -> bool: ...


def decompressed(chunks: Iterator[bytes]) -> Iterator[bytes | Damage]:
    """The chunks, decompressed if they are compressed."""
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


def _undone(tool: _Tool, head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes | Damage]:
    try:
        yield from _pieces(tool, head)
        for chunk in chunks:
            yield from _pieces(tool, chunk)
    except (zlib.error, _zstd().ZstdError) as problem:
        yield Damage(f"compressed data is damaged: {problem}")
        return
    if not tool.is_whole:
        yield Damage("compressed data ends early")


def _pieces(tool: _Tool, chunk: bytes) -> Iterator[bytes]:
    for start in range(0, len(chunk), _PIECE):
        yield from tool.feed(chunk[start : start + _PIECE])


class _Gunzip:
    """Any number of gzip members, one after the other."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def feed(self, piece: bytes) -> Iterator[bytes]:
        before = self._inner.copy()
        try:
            out = self._undo(piece)
        except zlib.error:
            self._inner = before
            for byte in range(len(piece)):  # up to the one that is damaged
                yield self._undo(piece[byte : byte + 1])
        else:
            yield out

    def _undo(self, piece: bytes) -> bytes:
        out = b""
        while piece:
            if self._inner.eof:
                self._inner = zlib.decompressobj(wbits=31)
            out += self._inner.decompress(piece)
            piece = self._inner.unused_data if self._inner.eof else b""
        return out

    @property
    def is_whole(self) -> bool:
        return self._inner.eof


class _Unzstd:
    """Any number of Zstandard frames, one after the other."""

    def __init__(self) -> None:
        self._inner = _zstd().ZstdDecompressor()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        while piece:
            if self._inner.eof:
                self._inner = _zstd().ZstdDecompressor()
            yield self._inner.decompress(piece)
            piece = self._inner.unused_data if self._inner.eof else b""

    @property
    def is_whole(self) -> bool:
        return self._inner.eof


def _zstd() -> Any:
    try:
        from compression import zstd  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    except ImportError:
        from backports import zstd
    return zstd  # pyright: ignore[reportUnknownVariableType]
