from __future__ import annotations

from dragoman.harnesses.gemini_tools.plans import plan_of
from dragoman.model.messages import PlanStep


def test_a_plan_has_the_steps_that_are_still_part_of_it() -> None:
    todos = [
        {"description": "a", "status": "completed"},
        {"content": "b", "status": "in_progress"},
        {"description": "c", "status": "cancelled"},
        {"status": "blocked"},
    ]

    assert plan_of({"todos": todos}) == [
        PlanStep("a", "completed"),
        PlanStep("b", "in_progress"),
        PlanStep("", "pending"),
    ]
    assert plan_of({"todos": "odd"}) == plan_of({}) == []
