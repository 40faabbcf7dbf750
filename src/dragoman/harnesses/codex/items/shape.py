"""The shape of items: the things a turn is made of, in all the spellings they come in.

Three spellings of one idea: ``command_execution`` with snake_case fields (``codex exec``),
``commandExecution`` with camelCase ones (app-server), ``CommandExecution`` with snake_case ones
(rollouts and core events).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str, snake_case
from dragoman.model.messages import Phase


class ThreadItem(msgspec.Struct, kw_only=True, gc=False):
    """Any item: the union of the fields that we use, each absent in most."""

    type: str = ""
    item_type: str | None = None  # how 0.42 spells `type` in `exec --experimental-json`
    id: str = ""
    status: str | None = None
    # messages and reasoning
    text: str | None = None
    moderation: Any = None
    phase: str | None = None
    content: Any = None
    fragments: Any = None
    summary: list[str] | None = None
    summary_text: list[str] | None = None
    raw_content: list[str] | None = None
    message: str | None = None
    details: Any = None
    # commands and patches
    command: Any = None
    cwd: Any = None
    results: Any = None
    aggregated_output: str | None = None
    exit_code: int | None = None
    duration: Any = None
    duration_ms: Any = None
    durationMs: Any = None  # how files spell it in extensions
    source: str | None = None
    changes: Any = None
    stdout: str | None = None
    stderr: str | None = None
    # other tools
    server: str | None = None
    tool: str | None = None
    namespace: str | None = None
    name: str | None = None
    output: Any = None
    arguments: Any = None
    result: Any = None
    error: Any = None
    content_items: Any = None
    success: bool | None = None
    query: str | None = None
    action: Any = None
    path: str | None = None
    revised_prompt: str | None = None
    saved_path: str | None = None
    # sub-agents
    prompt: str | None = None
    kind: str | None = None
    receiver_thread_ids: list[str] | None = None
    agents_states: Any = None
    agent_thread_id: str | None = None
    agent_path: str | None = None
    # plans and reviews
    items: Any = None
    review: str | None = None
    review_output: Any = None
    user_facing_hint: str | None = None


def _wire_name(name: str) -> str:
    """How the app-server spells a field: as we do, in camelCase, and the other way round."""
    if name == "durationMs":
        return "duration_ms"
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


if TYPE_CHECKING:
    WireItem: TypeAlias = ThreadItem
else:
    # The same shape as the app-server spells it. msgspec renames only the fields that a class
    # defines itself, so a subclass would not do.
    WireItem = msgspec.defstruct(
        "WireItem",
        [
            (field.name, field.type) if field.required else (field.name, field.type, field.default)
            for field in msgspec.structs.fields(ThreadItem)
        ],
        rename=_wire_name,
        kw_only=True,
        gc=False,
    )


Tell: TypeAlias = Callable[[SessionAssembler, str, ThreadItem, bool], None]
"""Reports an item on a channel, either started (or changed) or done."""


def kind_of(item: ThreadItem) -> str:
    """The item's type in one spelling."""
    return _kind(item.type or item.item_type or "")


@lru_cache(maxsize=256)
def _kind(name: str) -> str:
    return snake_case(name)


def child_sessions(item: ThreadItem) -> list[str]:
    """The sessions that are children of the item's session, according to the item."""
    if item.agent_thread_id:
        return [item.agent_thread_id] if item.kind in (None, "started") else []
    spawned = (item.tool or "").lower().startswith("spawn")
    return item.receiver_thread_ids or [] if spawned else []


def user_input(content: Any) -> tuple[str, list[str]]:
    """The words and the pictures in a user's input."""
    words: list[str] = []
    images: list[str] = []
    for part in map(as_dict, as_list(content)):
        image = part.get("path") or part.get("url") or part.get("image_url") or part.get("imageUrl")
        if isinstance(part.get("text"), str):
            words.append(part["text"])
        elif isinstance(data := part.get("data"), dict):
            words.append(as_str(as_dict(data).get("text")) or "")
        elif "image" in str(part.get("type")).lower() and isinstance(image, str):
            images.append(image)
    return "".join(words), images


def phase_of(phase: str | None) -> Phase | None:
    return phase if phase in ("commentary", "final_answer") else None
