"""Core events that do not fit their shape at first sight.

Two kinds do: releases 0.53 to 0.58 put an item's type around it (``{"AgentMessage": {…}}``),
and documents about the app-server show events in camelCase, their type only in the method's name.
"""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec

from dragoman.harnesses.codex.events.shapes import AnyEvent
from dragoman.harnesses.codex.values.loose import as_dict, snake_case, snake_keys
from dragoman.wire.jsonl import UNREADABLE


def camel_fields(events: Any) -> list[str]:
    """The camelCase spellings of all fields that a union of events has in snake_case."""
    names = {
        field.encode_name for event in get_args(events) for field in msgspec.structs.fields(event)
    }
    return sorted(
        re.sub("_([a-z])", lambda found: found[1].upper(), name) for name in names if "_" in name
    )


def is_spelled_in_camel_case(msg: dict[str, Any]) -> bool:
    """Whether the event's own fields, not those of a tool inside it, are in camelCase."""
    return any(snake_case(key) != key for key in msg)


def read_event(msg: dict[str, Any], type_name: str | None) -> AnyEvent | None:
    """The event in a message of one of these spellings; None if it is none."""
    spelled = as_dict(snake_keys(msg))
    spelled.setdefault("type", type_name)
    if "callId" in msg and isinstance(spelled.get("chunk"), str):
        # Only documents spell it so, and their output is plain text: never base64, even if it looks like it.
        spelled["chunk"] = list(spelled["chunk"].encode())
    item = as_dict(msg.get("item"))
    if len(item) == 1 and "type" not in item:
        kind, inner = next(iter(item.items()))
        spelled["item"] = {"type": kind, **as_dict(inner)}
    try:
        return msgspec.convert(spelled, AnyEvent)
    except UNREADABLE:
        return None
