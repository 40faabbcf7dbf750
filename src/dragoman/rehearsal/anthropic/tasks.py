"""A plan as Claude's task tools have it: tasks are made one by one, and then moved along by their numbers."""

from __future__ import annotations

import re
from typing import Any

from dragoman.rehearsal.requests import mapping, mappings, text_of
from dragoman.rehearsal.script import Plan

_NUMBER = re.compile(r"#(\d+)")


class TaskList:
    """The tasks that a conversation has made, with their numbers and states."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self._numbers: dict[str, str] = {}
        self._states: dict[str, str] = {}
        making: dict[str, str] = {}
        for message in messages:
            for block in mappings(message.get("content")):
                if block.get("type") == "tool_result":
                    subject = making.get(str(block.get("tool_use_id")))
                    number = _NUMBER.search(text_of(block.get("content")))
                    if subject is not None and number is not None:
                        self._numbers[subject] = number[1]
                elif block.get("type") == "tool_use":
                    given = mapping(block.get("input"))
                    if block.get("name") == "TaskCreate":
                        making[str(block.get("id"))] = str(given.get("subject"))
                    elif block.get("name") == "TaskUpdate" and "status" in given:
                        self._states[str(given.get("taskId"))] = str(given["status"])

    def to_make(self, plan: Plan) -> list[dict[str, Any]]:
        """The tasks of a plan that are not there yet."""
        missing = [step.text for step in plan.steps if step.text not in self._numbers]
        return [{"subject": text, "description": text, "activeForm": text} for text in missing]

    def to_update(self, plan: Plan) -> list[dict[str, Any]]:
        """The tasks of a plan that have moved on."""
        moved: list[dict[str, Any]] = []
        for step in plan.steps:
            number = self._numbers.get(step.text)
            if number is not None and self._states.get(number, "pending") != step.status:
                moved.append({"taskId": number, "status": step.status})
        return moved
