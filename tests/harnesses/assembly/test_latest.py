from __future__ import annotations

from dragoman.harnesses.assembly.latest import LatestValues
from dragoman.model.messages import PlanStep, RateWindow


def test_a_plan_changes_with_its_steps_or_its_explanation() -> None:
    latest = LatestValues()

    assert latest.changes_plan([PlanStep("look")], None)
    assert not latest.changes_plan([PlanStep("look")], None)
    assert latest.changes_plan([PlanStep("look")], "starting")
    assert latest.changes_plan([PlanStep("look", "completed")], "starting")


def test_an_empty_diff_is_a_change_only_after_another() -> None:
    latest = LatestValues()

    assert [latest.changes_diff(diff) for diff in ("", "+a", "+a", "")] == [
        False,
        True,
        False,
        True,
    ]


def test_the_next_turn_may_have_an_equal_diff_but_not_an_equal_plan() -> None:
    latest = LatestValues()
    latest.changes_diff("+a")
    latest.changes_plan([PlanStep("look")], None)

    latest.end_turn()

    assert latest.changes_diff("+a")
    assert not latest.changes_plan([PlanStep("look")], None)


def test_rate_limits_start_out_as_none() -> None:
    latest = LatestValues()

    assert not latest.changes_windows([])
    assert latest.changes_windows([RateWindow("primary", 12.5)])
    assert not latest.changes_windows([RateWindow("primary", 12.5)])
