"""The parts of a chat message that a step becomes: a text, thoughts, or a call."""

from __future__ import annotations

import json
from typing import Any

from dragoman.rehearsal.places import ScriptPlace, call_id
from dragoman.rehearsal.script import Item, Say, Step, Think


def part_of(step: Step) -> dict[str, Any] | None:
    """The part for a step that is not a call; None for a step that only shapes the answer."""
    match step:
        case Say():
            return {"text": step.whole}
        case Think():
            return {"reasoning": step.raw if step.raw is not None else "\n\n".join(step.parts)}
        case Item(item):
            return item if {"text", "reasoning", "call"} & item.keys() else None
        case _:
            return None


def call_part(
    item: dict[str, Any], place: ScriptPlace, following: int, number: int
) -> dict[str, Any]:
    """A call with its id, which says later where we were."""
    # A call that leads back to its own response prepares it.
    before = "b" if following == place.response else ""
    given = item["arguments"]
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    ident = call_id(place.turn or 0, following, number, before=before)
    return {
        "call": {
            "id": ident,
            "type": "function",
            "function": {"name": item["name"], "arguments": text},
        }
    }
