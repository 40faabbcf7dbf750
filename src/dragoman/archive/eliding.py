"""Shorten messages for display: images, long encoded data, and repeated outputs.

A placeholder names what was left out and its line; ``dragoman show ID --line N`` prints it in full.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

import msgspec

from dragoman.model.messages import Message, Prompt, ToolResult

_BLOB: Final = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/=_-]{1024,}")
_REPEATED: Final = 2048


class Elider:
    """Replaces content that is not useful in a view, message by message."""

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def view(self, message: Message) -> Message:
        if isinstance(message, Prompt) and any(map(_is_data, message.images)):
            images = [_named(image, message.line) for image in message.images]
            return msgspec.structs.replace(message, images=images)
        if isinstance(message, ToolResult) and len(message.output) >= 1024:
            output = self._shortened(message.output, message.line)
            if output is not message.output:
                return msgspec.structs.replace(message, output=output)
        return message

    def _shortened(self, output: str, line: int) -> str:
        if len(output) >= _REPEATED:
            key = hashlib.blake2b(output.encode("utf-8", "replace"), digest_size=16).digest()
            first = self._seen.setdefault(key, line)
            if first != line:
                return f"[the same {len(output):,} characters as in line {first}]"
        return _BLOB.sub(
            lambda found: f"[{len(found[0]):,} characters of data in line {line}]", output
        )


def _is_data(image: str) -> bool:
    return image.startswith("data:")


def _named(image: str, line: int) -> str:
    if not _is_data(image):
        return image
    kind = image[5:].split(";", 1)[0].split(",", 1)[0] or "data"
    return f"[{kind}, {len(image) * 3 // 4 // 1024 + 1:,} KB in line {line}]"
