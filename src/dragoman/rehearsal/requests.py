"""What the agent asked the model: one request, kept as it came, with the views that tests need."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import msgspec

_CONVERSATION_HEADERS = ("conversation_id", "session_id", "session-id", "thread-id")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "mcp_tool_call_output")


class Request(msgspec.Struct, frozen=True, dict=True):
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

    @cached_property
    def items(self) -> list[dict[str, Any]]:
        """The history that the request carries: prompts, context, calls and their outputs."""
        given = self.body.get("input")
        if isinstance(given, str):
            content = [{"type": "input_text", "text": given}]
            return [{"type": "message", "role": "user", "content": content}]
        if not isinstance(given, list):
            return []
        items = cast("list[Any]", given)
        return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]

    @property
    def conversation(self) -> str:
        """Whatever the request says about the conversation that it belongs to."""
        key = self.body.get("prompt_cache_key")
        if isinstance(key, str):
            return key
        return next(
            (self.headers[name] for name in _CONVERSATION_HEADERS if name in self.headers), ""
        )

    @property
    def model(self) -> str:
        """The model that the agent wanted."""
        return str(self.body.get("model", ""))

    @property
    def outputs(self) -> list[str]:
        """What the agent's tools gave back so far, oldest first."""
        return [text_of(item.get("output")) for item in self.items if item.get("type") in _OUTPUTS]


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
