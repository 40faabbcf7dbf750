"""Parses the questions in one request: an agent may ask several at once, each with suggested answers."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from dragoman.model.messages import ApprovalRequested


class Suggested(NamedTuple):
    """One suggested answer."""

    label: str
    description: str = ""


class Asked(NamedTuple):
    """One question."""

    name: str
    """Its id, or its text if it has no id."""
    text: str
    suggested: list[Suggested]
    is_secret: bool = False
    """Whether the answer is hidden while typed."""


def questions(asked: ApprovalRequested) -> list[Asked]:
    """The questions of a request, at least one, for any input."""
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
