"""The output items of the Responses API that a step becomes."""

from __future__ import annotations

from typing import Any

from dragoman.rehearsal.places import call_id
from dragoman.rehearsal.script import Item, Say, Search, Step, Think

_PREFIXES = {
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "local_shell_call": "lsh",
    "tool_search_call": "tsc",
}


_FOREIGN = ("text", "thinking", "redacted_thinking", "tool_use", "server_tool_use")


def item_of(step: Step, number: int) -> dict[str, Any] | None:
    """The item for a step that is not a call; None for a step that only shapes the answer."""
    match step:
        case Say():
            return message(step.whole, f"msg_{number:06x}", step.phase)
        case Think():
            return _reasoning(step, f"rs_{number:06x}")
        case Search():
            return _search(step, f"ws_{number:06x}")
        case Item(item):
            kind = str(item.get("type", ""))
            return None if kind in _FOREIGN or kind.endswith("_tool_result") else item
        case _:
            return None


def message(text: str, item_id: str, phase: str | None = None) -> dict[str, Any]:
    """What the model says to the user."""
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "id": item_id, "role": "assistant", "status": "completed"}
    return {**item, "content": content, **({"phase": phase} if phase else {})}


def call_item(item: dict[str, Any], turn: int, following: int, number: int) -> dict[str, Any]:
    """A tool call with its ids, one of which tells us later where we were."""
    prefix = _PREFIXES.get(item["type"], "call")
    return {**item, "id": f"{prefix}_{number:06x}", "call_id": call_id(turn, following, number)}


def _reasoning(step: Think, item_id: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": part} for part in step.parts]
    item: dict[str, Any] = {"type": "reasoning", "id": item_id, "summary": summary}
    if step.raw is not None:
        item["content"] = [{"type": "reasoning_text", "text": step.raw}]
    return {**item, "encrypted_content": "cmVoZWFyc2Fs"}


def _search(step: Search, item_id: str) -> dict[str, Any]:
    if step.url is None:
        action: dict[str, Any] = {"type": "search", "query": step.query or ""}
    elif step.find is None:
        action = {"type": "open_page", "url": step.url}
    else:
        action = {"type": "find_in_page", "url": step.url, "pattern": step.find}
    return {"type": "web_search_call", "id": item_id, "status": "completed", "action": action}
