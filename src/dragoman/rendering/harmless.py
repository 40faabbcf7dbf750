"""Text of agents made harmless: no control character reaches a terminal or a page."""

from __future__ import annotations

import re
from typing import Final

# Control characters but tab and newline, and the nine that reorder the text around them. The marks
# that only give direction to a neighbour (U+200E, U+200F, U+061C) belong to ordinary writing.
_UNSAFE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_VISIBLE: Final = (
    {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
    | {0x7F: "\u2421"}
    | {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}
    | {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
)


def harmless(text: str) -> str:
    """The text with control characters made visible."""
    if not _UNSAFE.search(text):
        return text
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def flat(text: str) -> str:
    """A name or a path, harmless and on one line whatever is in it."""
    return harmless(text).replace("\n", "␊")
