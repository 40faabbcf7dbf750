"""Which tasks Claude has at work beside the conversation: background commands and sub-agents."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.claude.driving.heard import ClaudeLine
from dragoman.wire.loose import as_dict, as_list, as_str

COMMAND: Final = "local_bash"
_OVER: Final = frozenset(("completed", "failed", "killed", "stopped", "cancelled"))


class ClaudeTasks:
    """The tasks by their id, with their kind."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}

    def commands(self) -> list[str]:
        """The commands that run, in the order they were started."""
        return [task_id for task_id, kind in self._kinds.items() if kind == COMMAND]

    def receive(self, subtype: str, line: ClaudeLine) -> None:
        """Take a ``system`` line about tasks."""
        task_id = as_str(line.task_id) or ""
        match subtype:
            case "task_started":
                self._kinds[task_id] = as_str(line.task_type) or COMMAND
            case "task_updated" if as_str(as_dict(line.patch).get("status")) in _OVER:
                self._kinds.pop(task_id, None)
            case "task_notification" if as_str(line.status) in _OVER:
                self._kinds.pop(task_id, None)
            case "background_tasks_changed":
                for task in map(as_dict, as_list(line.tasks)):
                    name = as_str(task.get("task_id"))
                    if name is not None:
                        self._kinds.setdefault(name, as_str(task.get("task_type")) or COMMAND)
            case _:
                pass
