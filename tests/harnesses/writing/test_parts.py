from __future__ import annotations

from datetime import UTC, datetime

from dragoman.harnesses.contract.writer import HandedTurn
from dragoman.harnesses.writing.parts import began_at, parts_of
from dragoman.model.messages import Plan, PlanStep, Prompt, Text
from dragoman.model.turns import Use
from support.handoff import use

_PROMPT = Prompt(text="go", at=datetime(2026, 1, 1, tzinfo=UTC))


def test_the_last_plan_becomes_a_call() -> None:
    first = Plan(steps=[PlanStep("one")])
    last = Plan(steps=[PlanStep("one", "completed"), PlanStep("two")], explanation="why")

    prompt, planned, text = parts_of(
        HandedTurn(number=1, parts=[_PROMPT, first, last, Text(text="ok")])
    )

    assert (prompt, text) == (_PROMPT, Text(text="ok"))
    assert isinstance(planned, Use)
    assert planned.call.input == {
        "todos": [
            {"content": "one", "status": "completed"},
            {"content": "two", "status": "pending"},
        ],
        "explanation": "why",
    }


def test_a_plan_that_calls_already_tell_is_left_to_them() -> None:
    call = use("TodoWrite", {"todos": [{"content": "one", "status": "pending"}]})

    assert parts_of(HandedTurn(number=1, parts=[call, Plan(steps=[PlanStep("one")])])) == [call]


def test_a_plan_without_steps_is_no_call() -> None:
    assert parts_of(HandedTurn(number=1, parts=[_PROMPT, Plan()])) == [_PROMPT]


def test_when_a_turn_began() -> None:
    assert began_at(HandedTurn(number=1, parts=[_PROMPT])) == _PROMPT.at
    assert began_at(HandedTurn(number=1, parts=[use("Bash", {})])) is None
    assert began_at(HandedTurn(number=1)) is None
