"""The content blocks of the Messages API that a step becomes."""

from __future__ import annotations

from typing import Any

from dragoman.rehearsal.places import ScriptPlace, call_id
from dragoman.rehearsal.script import Item, Say, Step, Think

_SIGNATURE = "cmVoZWFyc2Fs"
_FOREIGN = ("message", "reasoning", "compaction")  # items of the other wire


def block_of(step: Step, number: int) -> dict[str, Any] | None:
    """The block for a step that is not a call; None for a step that only shapes the answer."""
    match step:
        case Say():
            return {"type": "text", "text": step.whole}
        case Think():
            thought = step.raw if step.raw is not None else "\n\n".join(step.parts)
            return {"type": "thinking", "thinking": thought, "signature": _SIGNATURE}
        case Item(item):
            kind = str(item.get("type", ""))
            if kind in _FOREIGN or kind.endswith(("_call", "_output")):
                return None
            if kind == "tool_use":
                return {"id": f"toolu_{number:06x}", "input": {}, **item}
            return item
        case _:
            return None


def call_block(
    block: dict[str, Any], place: ScriptPlace, following: int, number: int
) -> dict[str, Any]:
    """A tool call with its id, which says later where we were."""
    # A call that leads back to its own response prepares it.
    before = "b" if following == place.response else ""
    ident = call_id(place.turn or 0, following, number, prefix="toolu", before=before)
    return {"type": "tool_use", "id": ident, **block}
