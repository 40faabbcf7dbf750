from __future__ import annotations

from dragoman.model.messages import (
    Context,
    Delta,
    Notice,
    Plan,
    PlanStep,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.turns import Turn, Use, fold
from dragoman.model.usage import Usage


def call(call_id: str, **where: str) -> ToolCall:
    return ToolCall(call_id=call_id, tool="Bash", native_tool="shell", **where)  # pyright: ignore[reportArgumentType]


def test_a_turn_holds_what_was_asked_said_and_done_in_its_order() -> None:
    prompt, thought, said = Prompt(text="fix it"), Thinking(text="hm"), Text(text="Done.")
    made, result = call("c1"), ToolResult(call_id="c1", output="ok")
    plan, notice = Plan(steps=[PlanStep("look")]), Notice(turn_id="t", level="info", text="note")
    ended = TurnEnded(outcome="completed", usage=Usage(10, 0, 0, 5))

    turns = fold(
        [
            SessionStarted(harness="codex"),
            TurnStarted(turn_id="t"),
            prompt,
            thought,
            made,
            result,
            plan,
            notice,
            said,
            ended,
        ]
    )

    assert turns == [
        Turn(
            None,
            "t",
            prompts=[prompt],
            steps=[thought, Use(made, result), said],
            plans=[plan],
            notices=[notice],
            ended=ended,
        )
    ]
    assert turns[0].uses == [Use(made, result)]


def test_what_is_not_part_of_the_conversation_begins_no_turn() -> None:
    assert (
        fold(
            [
                SessionStarted(harness="codex"),
                Context(role="developer", text="be careful"),
                Delta(of="text", text="O"),
                UsageReport(total=Usage(1)),
                Notice(level="warning", text="said outside of any turn"),
            ]
        )
        == []
    )


def test_words_before_any_turn_begin_one() -> None:
    [turn] = fold(
        [Prompt(session_id="s", turn_id="t", text="fix it"), Text(session_id="s", text="ok")]
    )

    assert (turn.session_id, turn.turn_id) == ("s", "t")
    assert len(turn.steps) == 1


def test_turns_come_in_the_order_they_began() -> None:
    turns = fold(
        [
            TurnStarted(session_id="a", turn_id="1"),
            TurnStarted(session_id="b", turn_id="1"),
            TurnEnded(session_id="b", turn_id="1", outcome="completed"),
            TurnStarted(session_id="a", turn_id="2"),
        ]
    )

    assert [(turn.session_id, turn.turn_id) for turn in turns] == [
        ("a", "1"),
        ("b", "1"),
        ("a", "2"),
    ]


def test_sessions_that_speak_at_the_same_time_are_kept_apart() -> None:
    one, other = fold(
        [
            TurnStarted(session_id="a", turn_id="1"),
            TurnStarted(session_id="b", turn_id="1"),
            Text(session_id="a", text="from a"),
            call("c1", session_id="b"),
            call("c1", session_id="a"),
            ToolResult(session_id="b", call_id="c1", output="of b"),
            Text(session_id="b", text="from b"),
        ]
    )

    assert [step.text for step in one.steps if isinstance(step, Text)] == ["from a"]
    assert [step.text for step in other.steps if isinstance(step, Text)] == ["from b"]
    assert one.uses == [Use(call("c1", session_id="a"))]
    assert [use.result.output for use in other.uses if use.result] == ["of b"]


def test_a_late_word_finds_the_turn_that_it_names() -> None:
    first, second = fold(
        [
            TurnStarted(turn_id="1"),
            TurnStarted(turn_id="2"),
            Text(turn_id="1", text="late"),
            TurnEnded(turn_id="1", outcome="interrupted"),
        ]
    )

    assert len(first.steps) == 1
    assert first.ended is not None
    assert (second.steps, second.ended) == ([], None)


def test_a_word_that_names_no_turn_belongs_to_the_newest() -> None:
    first, second = fold([TurnStarted(turn_id="1"), TurnStarted(turn_id="2"), Text(text="hello")])

    assert (len(first.steps), len(second.steps)) == (0, 1)


def test_a_late_result_replaces_the_one_that_gave_the_call_up() -> None:
    late = ToolResult(turn_id="2", call_id="c1", output="ok")

    [turn, _] = fold(
        [
            TurnStarted(turn_id="1"),
            call("c1", turn_id="1"),
            ToolResult(turn_id="1", call_id="c1", status="abandoned"),
            TurnStarted(turn_id="2"),
            late,
        ]
    )

    assert [use.result for use in turn.uses] == [late]


def test_a_result_without_a_call_is_no_step() -> None:
    [turn] = fold([TurnStarted(), ToolResult(call_id="c9", output="?")])

    assert turn.steps == []


def test_ids_may_be_used_again_by_a_later_turn() -> None:
    first, second = fold(
        [
            TurnStarted(turn_id="0"),
            call("c1", turn_id="0"),
            ToolResult(turn_id="0", call_id="c1", output="first"),
            TurnStarted(turn_id="0"),
            call("c1", turn_id="0"),
            ToolResult(turn_id="0", call_id="c1", output="second"),
        ]
    )

    assert [use.result.output for turn in (first, second) for use in turn.uses if use.result] == [
        "first",
        "second",
    ]
