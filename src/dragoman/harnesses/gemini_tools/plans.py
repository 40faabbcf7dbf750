"""The plan that a call states whole."""

from __future__ import annotations

from typing import Any, Final

from dragoman.model.messages import PlanStep, StepStatus
from dragoman.wire.loose import as_dict, as_list, as_str

_STATUSES: Final[dict[str, StepStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}


def plan_of(given: dict[str, Any]) -> list[PlanStep]:
    """The steps of a plan, in the words of messages. A step that was cancelled is no longer part of it."""
    todos = [as_dict(each) for each in as_list(given.get("todos"))]
    return [
        PlanStep(
            as_str(todo.get("content")) or as_str(todo.get("description")) or "",
            _STATUSES.get(as_str(todo.get("status")) or "", "pending"),
        )
        for todo in todos
        if todo.get("status") != "cancelled"
    ]
