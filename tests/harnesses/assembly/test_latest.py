from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.latest import LatestValues
from dragoman.harnesses.assembly.output import Output, SessionOutput
from dragoman.harnesses.assembly.turns import TurnLifecycle
from dragoman.model.messages import Diff, Plan, PlanStep, RateLimits, RateWindow


@pytest.fixture
def stream() -> Output:
    return Output(audit=True)


@pytest.fixture
def latest(stream: Output) -> LatestValues:
    out = SessionOutput(stream, "s")
    turns = TurnLifecycle(out)
    turns.begin("t")
    stream.take_messages()
    return LatestValues(out, turns)


def test_a_plan_is_emitted_when_its_steps_or_its_explanation_change(
    stream: Output, latest: LatestValues
) -> None:
    latest.set_plan([PlanStep("look")])
    latest.set_plan([PlanStep("look")])
    latest.set_plan([PlanStep("look")], "starting")
    latest.set_plan([PlanStep("look", "completed")], "starting")

    plans = [each for each in stream.take_messages() if isinstance(each, Plan)]
    assert [(plan.steps[0].status, plan.explanation) for plan in plans] == [
        (PlanStep("look").status, None),
        (PlanStep("look").status, "starting"),
        ("completed", "starting"),
    ]
    assert [each.reason for each in stream.take_duplicates()] == ["plan: unchanged"]


def test_an_empty_diff_is_emitted_only_after_another(stream: Output, latest: LatestValues) -> None:
    for unified in ("", "+a", "+a", ""):
        latest.set_diff(unified)

    diffs = [each for each in stream.take_messages() if isinstance(each, Diff)]
    assert [diff.unified for diff in diffs] == ["+a", ""]


def test_the_next_turn_may_have_an_equal_diff_but_not_an_equal_plan(
    stream: Output, latest: LatestValues
) -> None:
    for _ in range(2):
        latest.set_diff("+a")
        latest.set_plan([PlanStep("look")])
        latest.end_turn()

    assert [type(message) for message in stream.take_messages()] == [Diff, Plan, Diff]


def test_rate_limits_are_unknown_at_first(stream: Output, latest: LatestValues) -> None:
    for windows in ([], [RateWindow("primary", 12.5)], [RateWindow("primary", 12.5)]):
        latest.set_rate_limits(windows)

    assert [type(message) for message in stream.take_messages()] == [RateLimits]
