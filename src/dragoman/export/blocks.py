"""Content blocks and token counts as Claude has them, for the formats that speak of those.

==========  ==============================================================================
message     blocks
==========  ==============================================================================
prompt      ``text``, then one block per image: ``image`` for ``data:`` and web addresses, a
            ``text`` that names it for a path, since nothing here may open a file
plan        ``tool_use`` and ``tool_result`` of TodoWrite
==========  ==============================================================================
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import msgspec

from dragoman.model import tools
from dragoman.model.messages import Plan, Prompt
from dragoman.model.usage import Usage


class TextBlock(msgspec.Struct, tag="text"):
    text: str


class ThinkingBlock(msgspec.Struct, tag="thinking"):
    thinking: str
    signature: str = ""


class ToolUseBlock(msgspec.Struct, tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(msgspec.Struct, tag="tool_result"):
    tool_use_id: str
    content: str
    is_error: bool


class Base64Source(msgspec.Struct, tag="base64"):
    media_type: str
    data: str


class UrlSource(msgspec.Struct, tag="url"):
    url: str


class ImageBlock(msgspec.Struct, tag="image"):
    source: Base64Source | UrlSource


Block: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | ImageBlock


class MessageTokens(msgspec.Struct, frozen=True):
    """Usage as Claude counts it: the three kinds of input do not overlap."""

    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0


def tokens(usage: Usage) -> MessageTokens:
    cached, written = usage.cached_input_tokens, usage.cache_write_input_tokens
    fresh = max(0, usage.input_tokens - cached - written)
    return MessageTokens(fresh, written, cached, usage.output_tokens)


def prompt_blocks(prompt: Prompt) -> list[Block]:
    images = [_image(each) for each in prompt.images]
    return [TextBlock(prompt.text), *images] if prompt.text or not images else images


def plan_blocks(plan: Plan) -> tuple[ToolUseBlock, ToolResultBlock]:
    """A plan as the TodoWrite call that Claude would have made of it."""
    call_id = f"plan_{plan.line}"
    todos = [
        {"content": step.text, "status": step.status, "activeForm": step.text}
        for step in plan.steps
    ]
    return (
        ToolUseBlock(call_id, tools.TODO_WRITE, {"todos": todos}),
        ToolResultBlock(call_id, "Todos updated", is_error=False),
    )


def todo_input(given: dict[str, Any]) -> dict[str, Any]:
    """The input of a TodoWrite call, with what Claude's own has besides."""
    todos = given.get("todos")
    if not isinstance(todos, list):
        return given
    return {**given, "todos": [_todo(todo) for todo in cast("list[Any]", todos)]}


def _todo(todo: Any) -> Any:
    if not isinstance(todo, dict):
        return todo
    known = cast("dict[str, Any]", todo)
    return {**known, "activeForm": known.get("activeForm", known.get("content"))}


def _image(image: str) -> Block:
    if image.startswith(("https://", "http://")):
        return ImageBlock(UrlSource(image))
    head, comma, data = image.partition(";base64,")
    if comma and head.startswith("data:"):
        return ImageBlock(Base64Source(head.removeprefix("data:"), data))
    return TextBlock(f"[image: {image}]")
