"""Cache files with a checksum, so that a damaged one is ignored.

The checksum covers the bytes after it. It is hexadecimal and on its own line, so that the rest
stays readable.
"""

from __future__ import annotations

import zlib
from typing import Final

_LENGTH: Final = 9


def sealed(data: bytes) -> bytes:
    return b"%08x\n%b" % (zlib.crc32(data), data)


def unsealed(data: bytes) -> bytes:
    """Return the content. Raises ``ValueError`` if it does not match its checksum."""
    seal, inside = data[:_LENGTH], data[_LENGTH:]
    if seal != b"%08x\n" % zlib.crc32(inside):
        raise ValueError("the checksum does not match")
    return inside
