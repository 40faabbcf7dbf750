"""A prompt as a line: text, images, and an id by which the agent may report what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from dragoman.errors import Unsupported

_DATA: Final = re.compile(r"data:(?P<type>image/[\w.+-]+)(;[^;,]*)*;base64,(?P<data>.*)", re.DOTALL)


def user_line(uuid: str, text: str, images: Sequence[str] = ()) -> dict[str, Any]:
    """The line. Raises :class:`Unsupported` for an image that cannot be given."""
    content: Any = text
    if images:
        blocks = [{"type": "image", "source": _source(image)} for image in images]
        content = [*blocks, *([{"type": "text", "text": text}] if text else [])]
    return {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": None,
        "session_id": "",
        "uuid": uuid,
    }


def _source(image: str) -> dict[str, Any]:
    data = _DATA.fullmatch(image)
    if data is not None:
        return {"type": "base64", "media_type": data["type"], "data": data["data"]}
    if image.startswith(("http://", "https://")):
        return {"type": "url", "url": image}
    raise Unsupported("an image by its path", needs="the image as a data: address")
