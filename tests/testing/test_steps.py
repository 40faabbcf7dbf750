from __future__ import annotations

from dragoman.model.messages import Text, ToolCall, ToolResult
from dragoman.model.turns import Use
from dragoman.testing.steps import (
    Step,
    Thought,
    is_agent_message,
    only_steps_of,
    only_texts_of,
    ordered,
    outline,
    without_agents,
    without_raw,
    without_refused,
    without_uses,
)


def use(tool: str, native_tool: str = "", failed: bool | None = None, **call_input: str) -> Use:
    call = ToolCall(call_id=tool, tool=tool, native_tool=native_tool or tool, input=call_input)
    result = None if failed is None else ToolResult(call_id=tool, is_error=failed)
    return Use(call, result)


HELLO, BYE, HM, BASH = Text(text="hello"), Text(text="bye"), Thought(["look", "fix"]), use("Bash")


def test_the_outline_of_a_step_is_its_kind_and_what_it_is_about() -> None:
    assert [outline(step) for step in (HELLO, HM, BASH)] == [
        ("text", "hello"),
        ("thinking", "look\nfix"),
        ("use", "Bash"),
    ]


def test_uses_can_be_left_out() -> None:
    assert without_uses([HELLO, BASH, HM]) == [HELLO, HM]


def test_order_is_made_of_thoughts_then_texts_then_uses() -> None:
    one, other = use("Bash", command="a"), use("Bash", command="b")
    more = Thought(["check"])

    steps = ordered([other, HELLO, HM, one, BYE, more, use("Apply")])

    assert steps == [Thought(["look", "fix", "check"]), HELLO, BYE, use("Apply"), one, other]
    assert ordered([BASH]) == [BASH]


def test_order_keeps_that_of_the_texts() -> None:
    assert ordered([BYE, HELLO]) == [BYE, HELLO]


def test_a_letter_is_known_by_its_native_tool() -> None:
    assert is_agent_message(use("SendMessage", "send_message"))
    assert is_agent_message(use("list_agents", "collaboration.list_agents"))
    assert not is_agent_message(use("SendMessage", "notify"))


def test_agents_can_be_left_out() -> None:
    assert without_agents(
        [use("Task"), HELLO, use("TaskOutput"), use("x", "followup_task"), BASH]
    ) == [HELLO, BASH]


def test_steps_that_the_file_does_not_have_can_be_left_out() -> None:
    assert only_steps_of([HELLO, BASH], [HELLO, HELLO, HM, use("Bash"), use("Read")]) == [
        HELLO,
        HELLO,
        use("Bash"),
    ]


def test_texts_that_the_file_has_lost_can_be_left_out_each_as_often_as_it_is_lost() -> None:
    live: list[Step] = [HELLO, BASH, HELLO, BYE, HM]

    assert only_texts_of([HELLO, BASH], live) == [HELLO, BASH, HM]
    assert only_texts_of([HELLO, HELLO, BYE], live) == live
    assert only_texts_of([], live) == [BASH, HM]


def test_failed_calls_that_the_other_side_does_not_know_can_be_left_out() -> None:
    refused, run, again = use("Bash", failed=True), use("Bash", failed=False), use("Bash")

    assert without_refused([refused, run, HELLO], [run, HELLO]) == [run, HELLO]
    assert without_refused([refused, refused, run], [run, refused]) == [refused, run]
    assert without_refused([refused], [refused]) == [refused]
    assert without_refused([run, again], []) == [run, again]


def test_parts_of_thoughts_that_only_one_side_has_can_be_left_out_on_both() -> None:
    one: list[Step] = [Thought(["sum", "chain"]), HELLO]
    other: list[Step] = [Thought(["sum"]), Thought(["else"])]

    without_raw(one, other)

    assert one == [Thought(["sum"]), HELLO]
    assert other == [Thought(["sum"]), Thought([])]
