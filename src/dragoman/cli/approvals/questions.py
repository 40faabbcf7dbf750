"""The questions of a question: an agent may ask several at once, each with answers that it suggests."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from dragoman.model.messages import ApprovalRequested


class Suggested(NamedTuple):
    """One answer on offer."""

    label: str
    description: str = ""


class Asked(NamedTuple):
    """One question."""

    name: str
    """Its id, or its text where it has none."""
    text: str
    suggested: list[Suggested]
    is_secret: bool = False
    """Whether the answer must not be seen."""


def questions(asked: ApprovalRequested) -> list[Asked]:
    """What is asked, whatever the agent has sent; at least one."""
    found: list[Asked] = []
    for each in _dicts(asked.detail.get("questions")):
        text = str(each.get("question") or each.get("header") or "")
        suggested = [
            Suggested(str(option.get("label", "")), str(option.get("description") or ""))
            for option in _dicts(each.get("options"))
        ]
        name = str(each.get("id") or text)
        found.append(Asked(name, text, suggested, each.get("isSecret") is True))
    whole = [Suggested(label) for label in asked.choices]
    return found or [Asked(asked.summary, asked.summary, whole)]


def _dicts(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    return [cast("dict[str, Any]", each) for each in items if isinstance(each, dict)]
