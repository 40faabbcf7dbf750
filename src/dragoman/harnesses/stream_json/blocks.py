"""The content of a user's message: what was said, and the results of calls in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from dragoman.wire.loose import as_dict, as_list, as_str


class Prompted(NamedTuple):
    """What a user's message says."""

    text: str
    images: list[str]


def prompt_of(content: Any) -> Prompted:
    """The text and the images of a user's message."""
    if isinstance(content, str):
        return Prompted(content, [])
    texts: list[str] = []
    images: list[str] = []
    for block in map(as_dict, as_list(content)):
        kind = as_str(block.get("type"))
        if kind == "text":
            texts.append(as_str(block.get("text")) or "")
        elif kind in ("image", "document"):
            images.append(_address(as_dict(block.get("source"))))
    return Prompted("\n".join(texts), images)


def has_results(content: Any) -> bool:
    return any(as_dict(block).get("type") == "tool_result" for block in as_list(content))


def results_in(content: Any) -> Iterable[dict[str, Any]]:
    blocks = map(as_dict, as_list(content))
    return (block for block in blocks if block.get("type") == "tool_result")


def without_results(content: Any) -> list[Any]:
    return [each for each in as_list(content) if as_dict(each).get("type") != "tool_result"]


def _address(source: dict[str, Any]) -> str:
    if source.get("type") == "base64":
        media = as_str(source.get("media_type")) or "application/octet-stream"
        return f"data:{media};base64,{as_str(source.get('data')) or ''}"
    return as_str(source.get("url")) or as_str(source.get("file_id")) or ""
