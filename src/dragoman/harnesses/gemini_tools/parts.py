"""The parts of a message of the Gemini API: texts, thoughts, images, calls, and the results of calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from dragoman.wire.loose import as_dict, as_list, as_str


class MessageParts(NamedTuple):
    """A message, taken apart."""

    text: str
    thoughts: list[str]
    images: list[str]
    calls: list[dict[str, Any]]
    results: list[dict[str, Any]]
    others: list[str]
    """Names of the parts that are none of these, such as code that the model ran by itself."""


def parts_of(content: Any) -> MessageParts:
    """Take a message's content apart: a text, a part, or several."""
    found = MessageParts("", [], [], [], [], [])
    texts: list[str] = []
    for part in _parts(content):
        if isinstance(part, str):
            texts.append(part)
            continue
        text = as_str(part.get("text"))
        if part.get("thought") is True:
            if text:
                found.thoughts.append(text)
        elif text is not None:
            texts.append(text)
        elif "functionCall" in part:
            found.calls.append(as_dict(part["functionCall"]))
        elif "functionResponse" in part:
            found.results.append(as_dict(part["functionResponse"]))
        elif (address := _address(part)) is not None:
            found.images.append(address)
        elif part:
            found.others.append(next(iter(part)))
    return found._replace(text="".join(texts))


def _parts(content: Any) -> Iterator[str | dict[str, Any]]:
    if isinstance(content, str | dict):
        content = [content]
    for part in as_list(content):
        yield part if isinstance(part, str) else as_dict(part)


def _address(part: dict[str, Any]) -> str | None:
    """The address of an image or another file."""
    inline, file = as_dict(part.get("inlineData")), as_dict(part.get("fileData"))
    if data := as_str(inline.get("data")):
        return f"data:{as_str(inline.get('mimeType')) or 'application/octet-stream'};base64,{data}"
    return as_str(file.get("fileUri"))
