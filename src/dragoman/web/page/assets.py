"""Static files of the page: style sheets, scripts, icons. Read once, with a version from their content."""

from __future__ import annotations

import functools
import re
from hashlib import sha256
from importlib.resources import files
from typing import Final

import msgspec

from dragoman.export.html.page import pieces_sheet

PIECES: Final = "pieces.css"
"""The style sheet of the conversation, shared with exported pages."""
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*\.(css|js|svg|webmanifest)")


class Asset(msgspec.Struct, frozen=True):
    body: bytes
    media_type: str
    etag: str


@functools.cache
def asset(name: str) -> Asset | None:
    """A static file by name. Names cannot lead out of the folder."""
    known = _NAME.fullmatch(name)
    if known is None:
        return None
    if name == PIECES:
        body = pieces_sheet().encode()
    else:
        file = files("dragoman.web.page").joinpath("static", name)
        if not file.is_file():
            return None
        body = file.read_bytes()
    return Asset(body, _TYPES[known[1]], f'"{sha256(body).hexdigest()[:16]}"')


@functools.cache
def names() -> tuple[str, ...]:
    """All static files."""
    folder = files("dragoman.web.page").joinpath("static")
    return (PIECES, *sorted(each.name for each in folder.iterdir() if _NAME.fullmatch(each.name)))
