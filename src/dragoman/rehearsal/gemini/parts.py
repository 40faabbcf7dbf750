"""The parts of the Gemini API that a step becomes: texts, thoughts and function calls."""

from __future__ import annotations

from typing import Any

from dragoman.rehearsal.places import ScriptPlace, call_id
from dragoman.rehearsal.requests import mapping
from dragoman.rehearsal.script import Item, Say, Step, Think

_KINDS = ("text", "functionCall", "executableCode", "codeExecutionResult", "inlineData")


def part_of(step: Step) -> dict[str, Any] | None:
    """The part for a step that is not a call; None for a step that only shapes the answer."""
    match step:
        case Say():
            return {"text": step.whole}
        case Think():
            thought = step.raw if step.raw is not None else "\n\n".join(step.parts)
            return {"text": thought, "thought": True}
        case Item(item):
            # An item with a type belongs to another API.
            fits = "type" not in item and any(kind in item for kind in _KINDS)
            return item if fits else None
        case _:
            return None


def call_part(
    item: dict[str, Any], place: ScriptPlace, following: int, number: int
) -> dict[str, Any]:
    """A function call with its id, which says later where we were."""
    # A call that leads back to its own response prepares it.
    before = "b" if following == place.response else ""
    ident = call_id(place.turn or 0, following, number, before=before)
    call = {"id": ident, "name": item["name"], "args": mapping(item["arguments"])}
    return {"functionCall": call}
