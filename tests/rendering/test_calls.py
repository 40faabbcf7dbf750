from __future__ import annotations

import pytest

from dragoman.model.messages import ToolCall, ToolResult
from dragoman.rendering.calls import CallIndex, explanation

MAKE = ToolCall(call_id="c1", tool="Bash", native_tool="shell", input={"command": "make"})
PLAN = ToolCall(
    call_id="c2",
    tool="TodoWrite",
    native_tool="update_plan",
    input={"todos": [{"content": "look", "status": "pending"}]},
)


def test_a_result_finds_its_call_once() -> None:
    calls = CallIndex()
    calls.begin(MAKE)

    assert calls.end(ToolResult(call_id="c1")) is MAKE
    assert calls.end(ToolResult(call_id="c1")) is None
    assert calls.end(ToolResult(call_id="c9")) is None


def test_a_result_finds_its_call_after_the_turn() -> None:
    calls = CallIndex()
    calls.begin(MAKE)
    calls.end_turn()

    assert calls.end(ToolResult(call_id="c1")) is MAKE


def test_an_abandoned_call_may_still_get_its_result() -> None:
    calls = CallIndex()
    calls.begin(MAKE)

    assert calls.end(ToolResult(call_id="c1", status="abandoned")) is MAKE
    assert calls.end(ToolResult(call_id="c1", output="late")) is MAKE
    assert calls.end(ToolResult(call_id="c1")) is None


def test_a_plan_is_shown_by_its_call_until_that_ends() -> None:
    calls = CallIndex()
    calls.begin(MAKE)
    assert not calls.show_a_plan

    calls.begin(PLAN)
    assert calls.show_a_plan

    calls.end(ToolResult(call_id="c2"))
    assert not calls.show_a_plan


@pytest.mark.parametrize("abandoned", [True, False])
def test_a_plan_whose_turn_is_over_is_shown_by_no_call(*, abandoned: bool) -> None:
    calls = CallIndex()
    calls.begin(PLAN)

    if abandoned:
        calls.end(ToolResult(call_id="c2", status="abandoned"))
    calls.end_turn()

    assert not calls.show_a_plan


@pytest.mark.parametrize(
    ("given", "said"), [("Starting", "Starting"), ("", None), (None, None), (["x"], None)]
)
def test_a_plan_is_explained_by_words_only(given: object, said: str | None) -> None:
    call = ToolCall(
        call_id="c2",
        tool="TodoWrite",
        native_tool="update_plan",
        input={"todos": [], "explanation": given},
    )

    assert explanation(call) == said
    assert explanation(PLAN) is None
