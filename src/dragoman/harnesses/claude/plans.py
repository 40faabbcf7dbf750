"""The plan of a session: what TodoWrite states whole, and the task tools state step by step."""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.model.messages import PlanStep, StepStatus
from dragoman.model.tools import TODO_WRITE
from dragoman.wire.loose import as_dict, as_list, as_str

_STATUSES: Final[dict[str, StepStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
_DELETED: Final = "deleted"


class TaskPlan:
    """Follows the calls that change the plan. A call counts once its result says that it worked."""

    def __init__(self, assembler: SessionAssembler) -> None:
        self._assembler = assembler
        self._steps: dict[str, PlanStep] = {}
        self._waiting: dict[str, tuple[str, dict[str, Any]]] = {}

    def call(self, call_id: str, tool: str, given: dict[str, Any]) -> None:
        if tool in (TODO_WRITE, "TaskCreate", "TaskUpdate"):
            self._waiting[call_id] = (tool, given)

    def result(self, call_id: str, details: Any, *, is_error: bool) -> None:
        waiting = self._waiting.pop(call_id, None)
        if waiting is None or is_error:
            return
        tool, given = waiting
        if tool == TODO_WRITE:
            self._assembler.plan(_todos(given.get("todos")))
        elif tool == "TaskCreate":
            self._create(given, as_dict(as_dict(details).get("task")))
        else:
            self._update(given)

    def _create(self, given: dict[str, Any], task: dict[str, Any]) -> None:
        text = as_str(given.get("subject")) or as_str(task.get("subject"))
        if text is None:
            return
        task_id = _id(task.get("id")) or str(len(self._steps) + 1)
        self._steps[task_id] = PlanStep(text)
        self._assembler.plan(list(self._steps.values()))

    def _update(self, given: dict[str, Any]) -> None:
        task_id = _id(given.get("taskId")) or _id(given.get("task_id"))
        step = self._steps.get(task_id or "")
        if task_id is None or step is None:
            return
        status = as_str(given.get("status"))
        if status == _DELETED:
            del self._steps[task_id]
        else:
            self._steps[task_id] = PlanStep(
                as_str(given.get("subject")) or step.text,
                _STATUSES.get(status or "", step.status),
            )
        self._assembler.plan(list(self._steps.values()))


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _todos(value: Any) -> list[PlanStep]:
    todos = [as_dict(each) for each in as_list(value)]
    return [
        PlanStep(
            as_str(todo.get("content")) or "", _STATUSES.get(str(todo.get("status")), "pending")
        )
        for todo in todos
    ]
