"""Prompts as content blocks."""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.errors import Unsupported

_DATA: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)


def prompt_params(
    session_id: str,
    turn_id: str,
    text: str,
    images: list[str],
    *,
    takes_images: bool,
    agent: str | None = None,
) -> dict[str, Any]:
    """The parameters of ``session/prompt``. A journal says by ``_meta`` which turn it began, and with which agent."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for image in images:
        found = _DATA.fullmatch(image)
        if found is None:
            blocks.append({"type": "resource_link", "name": image.rpartition("/")[2], "uri": image})
        elif takes_images:
            blocks.append({"type": "image", "mimeType": found[1], "data": found[2]})
        else:
            raise Unsupported("images with this agent")
    return {
        "sessionId": session_id,
        "prompt": blocks,
        "_meta": {"dragoman": {"turnId": turn_id} | ({"agent": agent} if agent else {})},
    }
