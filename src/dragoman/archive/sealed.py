"""Small files of the cache with a checksum: one that was damaged is as good as none.

The sum is of the bytes behind it, in hexadecimal and on a line of its own, so that the rest can be read as it is.
"""

from __future__ import annotations

import zlib
from typing import Final

_LENGTH: Final = 9


def sealed(data: bytes) -> bytes:
    return b"%08x\n%b" % (zlib.crc32(data), data)


def unsealed(data: bytes) -> bytes:
    """What was sealed. Raises ``ValueError`` if it has changed since."""
    seal, inside = data[:_LENGTH], data[_LENGTH:]
    if seal != b"%08x\n" % zlib.crc32(inside):
        raise ValueError("the checksum does not fit")
    return inside
