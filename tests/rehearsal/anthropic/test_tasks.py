from __future__ import annotations

from typing import Any

from dragoman.rehearsal.anthropic.tasks import TaskList
from dragoman.rehearsal.script import Plan, PlanStep

_PLAN = Plan((PlanStep("Look", "in_progress"), PlanStep("Fix", "pending")))


def _messages(*uses: tuple[str, dict[str, Any], str]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, (name, given, output) in enumerate(uses):
        ident = f"toolu_{number}"
        use = {"type": "tool_use", "id": ident, "name": name, "input": given}
        result = {"type": "tool_result", "tool_use_id": ident, "content": output}
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
    return messages


def test_tasks_are_made_first_and_then_moved_on_by_their_numbers() -> None:
    nothing = TaskList([])
    assert [task["subject"] for task in nothing.to_make(_PLAN)] == ["Look", "Fix"]
    assert nothing.to_update(_PLAN) == []

    made = _messages(
        ("TaskCreate", {"subject": "Look"}, "Task #7 created successfully: Look"),
        ("TaskCreate", {"subject": "Fix"}, "Task #8 created successfully: Fix"),
    )
    assert TaskList(made).to_make(_PLAN) == []
    assert TaskList(made).to_update(_PLAN) == [{"taskId": "7", "status": "in_progress"}]


def test_a_task_that_has_moved_on_is_left_alone() -> None:
    moved = _messages(
        ("TaskCreate", {"subject": "Look"}, "Task #1 created"),
        ("TaskCreate", {"subject": "Fix"}, "Task #2 created"),
        ("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "Updated task #1 status"),
    )

    assert TaskList(moved).to_update(_PLAN) == []
