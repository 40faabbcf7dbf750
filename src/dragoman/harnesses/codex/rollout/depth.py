"""Whether a decoded row can hold a value that is nested too deeply, judged without counting its brackets.

Counting the brackets of a line takes a third of the time of decoding it. It is not necessary where every
field that may hold any value at all holds a plain one: what is nested then is in fields that are not read.
"""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from dragoman.harnesses.codex.events import conversation_shapes as said
from dragoman.harnesses.codex.items.shape import ThreadItem
from dragoman.harnesses.codex.responses import shapes
from dragoman.harnesses.codex.rollout import shapes as rows

_SCALARS: Final = frozenset((str, int, float, bool, type(None)))
OPEN_FIELDS: Final[dict[type[msgspec.Struct], tuple[str, ...]]] = {
    shapes.MessageItem: (),
    shapes.ReasoningItem: (),
    shapes.CustomCallItem: (),
    shapes.FunctionCallItem: ("arguments",),
    shapes.FunctionOutputItem: ("output",),
    shapes.CustomOutputItem: ("output",),
    said.AgentMessage: (),
    said.AgentReasoning: (),
    said.UserMessage: (),
    said.TaskComplete: ("error",),
    rows.TokenUsageRecord: (),
    rows.SessionMeta: ("source", "dragoman_handoff"),
    ThreadItem: (
        *("moderation", "content", "fragments", "details", "command", "cwd", "results", "duration"),
        *("duration_ms", "durationMs", "changes", "output", "arguments", "result", "error"),
        *("content_items", "action", "agents_states", "items", "review_output"),
    ),
}
"""The fields of frequent shapes that may hold any value. Of no other shape is anything assumed."""


def may_be_deep(row: Any) -> bool:
    """Whether the row has a field that is read and could hold a deeply nested value."""
    payload: Any = getattr(row, "payload", None)
    kind = payload.__class__
    if kind is said.ItemCompleted:
        payload = payload.item
        kind = ThreadItem
    fields = OPEN_FIELDS.get(kind)
    if fields is None:
        return True
    for name in fields:
        value = getattr(payload, name)
        if value.__class__ not in _SCALARS and not _is_flat(value):
            return True
    return False


def _is_flat(value: Any) -> bool:
    """Whether this is a list or an object of plain values, such as the arguments of a command."""
    if value.__class__ is list:
        return all(each.__class__ in _SCALARS for each in cast("list[Any]", value))
    return value.__class__ is dict and all(
        each.__class__ in _SCALARS for each in cast("dict[str, Any]", value).values()
    )
