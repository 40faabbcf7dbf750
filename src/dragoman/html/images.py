"""Images that came with a message: shown if they are what they say they are, else named.

Only bytes inside the message are ever shown: a page that fetched an image would tell others that it
is being read. The bytes decide what kind of image it is, not the name it comes with. An image
that was shown before is not shown again, and a page holds only so many.
"""

from __future__ import annotations

import binascii
from hashlib import sha256
from typing import Final

from dragoman.html.pieces import Html, element
from dragoman.rendering import render

LARGEST: Final = 3_000_000
"""How many bytes one image may have."""
MOST: Final = 30_000_000
"""How many bytes of images a page holds."""


class InlineImages:
    """The images of one page."""

    def __init__(self, most: int = MOST) -> None:
        self._left = most
        self._shown: dict[bytes, str] = {}

    def show(self, address: str, anchor: str | None = None) -> Html:
        """An image, or where it stands already, or its name."""
        if not address.startswith("data:") or len(address) > 2 * LARGEST:
            return name(address)
        digest = sha256(address.encode("utf-8", "surrogatepass")).digest()
        if (earlier := self._shown.get(digest)) is not None:
            where = element("a", "shown above", href=f"#{earlier}") if earlier else "shown above"
            return element("p", name(address), ", ", where, class_="image-again")
        data = _bytes(address)
        kind = kind_of(data)
        if kind is None or len(data) > min(LARGEST, self._left):
            return name(address)
        self._left -= len(data)
        self._shown[digest] = anchor or ""
        source = f"data:{kind};base64,{binascii.b2a_base64(data, newline=False).decode('ascii')}"
        return element("img", src=source, alt="Image", class_="image", loading="lazy")


def name(address: str) -> Html:
    return element("span", render.image(address), class_="image-name")


def kind_of(data: bytes) -> str | None:
    """The media type of what is surely an image that browsers only draw."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _bytes(address: str) -> bytes:
    head, _, data = address.partition(",")
    if not head.endswith(";base64"):
        return b""
    try:
        return binascii.a2b_base64(data.encode("ascii"), strict_mode=True)
    except (ValueError, UnicodeError):
        return b""
