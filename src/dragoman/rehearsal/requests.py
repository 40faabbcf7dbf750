"""What the agent asked the model: one request, kept as it came."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import msgspec


class HttpRequest(msgspec.Struct, frozen=True, dict=True):
    """One HTTP request to the stand-in model. Header names are in lower case."""

    number: int
    """Counted from 1, over all conversations."""
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    """The body, decompressed."""

    @cached_property
    def body(self) -> dict[str, Any]:
        """The body as JSON; empty if it is none."""
        try:
            value = msgspec.json.decode(self.raw)
        except msgspec.DecodeError:
            return {}
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    @property
    def endpoint(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0].rstrip("/")

    @property
    def model(self) -> str:
        """The model that the agent wanted."""
        return str(self.body.get("model", ""))


def mapping(value: Any) -> dict[str, Any]:
    """An object; empty if the value is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def mappings(values: Any) -> list[dict[str, Any]]:
    """The objects in a list; whatever else it holds is left out."""
    if not isinstance(values, list):
        return []
    known = cast("list[Any]", values)
    return [cast("dict[str, Any]", value) for value in known if isinstance(value, dict)]


def text_of(content: Any) -> str:
    """The words in a content list, a tool's output or a plain string."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        parts = cast("dict[str, Any]", content)
        return text_of(parts.get("content", parts.get("output", parts.get("text", ""))))
    if isinstance(content, list):
        return "\n".join(words for words in map(_part, cast("list[Any]", content)) if words)
    return ""


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    fields = cast("dict[str, Any]", part)
    words = fields.get("text", fields.get("encrypted_content", ""))
    return words if isinstance(words, str) else ""
