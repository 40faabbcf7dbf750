"""The parts of a turn as they are written: plans become calls, because only calls are part of a history."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from dragoman.harnesses.contract.writer import HandedTurn
from dragoman.model.messages import Plan, Prompt, Text, Thinking, ToolCall, ToolResult
from dragoman.model.tools import TODO_WRITE
from dragoman.model.turns import Use

WrittenPart: TypeAlias = Prompt | Text | Thinking | Use


def parts_of(turn: HandedTurn) -> list[WrittenPart]:
    """Return the parts of a turn. Its last plan becomes a call, unless calls already say it."""
    plans = [part for part in turn.parts if isinstance(part, Plan)]
    if any(isinstance(part, Use) and part.call.tool == TODO_WRITE for part in turn.parts):
        plans = []
    parts: list[WrittenPart] = []
    for part in turn.parts:
        if not isinstance(part, Plan):
            parts.append(part)
        elif plans and part is plans[-1] and part.steps:
            parts.append(_planned(part))
    return parts


def began_at(turn: HandedTurn) -> datetime | None:
    """When the first part of a turn was said."""
    first = turn.parts[0] if turn.parts else None
    return first.call.at if isinstance(first, Use) else first.at if first is not None else None


def _planned(plan: Plan) -> Use:
    given: dict[str, object] = {
        "todos": [{"content": step.text, "status": step.status} for step in plan.steps]
    }
    if plan.explanation:
        given["explanation"] = plan.explanation
    call = ToolCall(call_id="", tool=TODO_WRITE, native_tool=TODO_WRITE, input=given, at=plan.at)
    return Use(call, ToolResult(call_id="", output="Plan updated", at=plan.at))
