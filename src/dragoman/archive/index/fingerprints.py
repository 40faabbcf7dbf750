"""Detect whether a file still starts as before, by hashes of its first bytes and of those before an offset."""

from __future__ import annotations

from typing import Final, Protocol

try:
    from _blake2 import blake2b  # what ``hashlib`` has, without OpenSSL, which takes 2 ms to load
except ImportError:
    from hashlib import blake2b

_SPAN: Final = 4096
_DIGEST: Final = 16


class Bytes(Protocol):
    """A file, preferably unbuffered: a buffer would read far more than needed."""

    def seek(self, pos: int, whence: int, /) -> int: ...
    def read(self, size: int, /) -> bytes | None: ...


def head(file: Bytes, offset: int) -> bytes:
    """Return the fingerprint of the first bytes, up to ``offset``."""
    return _of(file, 0, min(_SPAN, offset))


def tail(file: Bytes, offset: int) -> bytes:
    """Return the fingerprint of the bytes before ``offset``."""
    return _of(file, max(0, offset - _SPAN), offset)


def is_same(file: Bytes, offset: int, *, head_was: bytes, tail_was: bytes) -> bool:
    """Whether a file that was read up to ``offset`` still has the same beginning."""
    return head(file, offset) == head_was and tail(file, offset) == tail_was


def _of(file: Bytes, begin: int, end: int) -> bytes:
    file.seek(begin, 0)
    return blake2b(file.read(end - begin) or b"", digest_size=_DIGEST).digest()
