from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import (
    Message,
    Notice,
    Outcome,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.model.usage import Usage
from support.assembling import reasons


@pytest.fixture
def session(out: Output) -> SessionAssembler:
    """A session in which nothing has happened yet."""
    return SessionAssembler(out, "codex", "s")


LIMIT = TurnError("turn_failed", "out of room", retryable=False, native="contextWindowExceeded")


def types(messages: list[Message]) -> list[str]:
    return [type(message).__name__ for message in messages]


def ended(out: Output) -> TurnEnded:
    [end] = [message for message in out.take_messages() if isinstance(message, TurnEnded)]
    return end


# Turns.


def test_turns_without_a_name_are_counted(out: Output, session: SessionAssembler) -> None:
    for _ in range(2):
        session.begin_turn()
        session.end_turn("completed")

    assert [message.turn_id for message in out.take_messages()] == [
        "turn-1",
        "turn-1",
        "turn-2",
        "turn-2",
    ]


def test_a_turn_begun_twice_is_one_turn(out: Output, session: SessionAssembler) -> None:
    session.begin_turn("t")
    session.begin_turn("t")

    assert types(out.take_messages()) == ["TurnStarted"]
    assert reasons(out) == ["turn: started before"]


def test_a_turn_ended_twice_ends_once(out: Output, session: SessionAssembler) -> None:
    session.begin_turn("t")
    session.end_turn("completed")
    session.end_turn("interrupted")

    assert types(out.take_messages()) == ["TurnStarted", "TurnEnded"]
    assert reasons(out) == ["turn: ended before"]


def test_a_turn_left_open_by_its_process_ends_before_the_next_begins(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_turn("a")
    session.begin_turn("b")

    assert out.take_messages() == [
        TurnStarted(session_id="s", turn_id="a"),
        TurnEnded(session_id="s", turn_id="a", outcome="interrupted"),
        TurnStarted(session_id="s", turn_id="b"),
    ]


def test_the_end_of_a_turn_closes_every_open_call_with_what_it_put_out(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_turn("t")
    for call_id in ("closed", "silent", "noisy"):
        session.call(call_id, "Bash", "shell", {"command": "make"})
    session.result("closed", "done")
    session.delta("event", "output", "one ", "noisy")
    session.delta("event", "output", "two", "noisy")
    out.take_messages()

    session.end_turn("interrupted")

    assert out.take_messages() == [
        ToolResult(
            session_id="s", turn_id="t", call_id="silent", is_error=True, status="abandoned"
        ),
        ToolResult(
            session_id="s",
            turn_id="t",
            call_id="noisy",
            output="one two",
            is_error=True,
            status="abandoned",
        ),
        TurnEnded(session_id="s", turn_id="t", outcome="interrupted"),
    ]


def test_a_call_that_ends_after_its_turn_ends_under_its_turn(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_turn("old")
    session.call("c", "Bash", "shell", {})
    session.end_turn("interrupted")
    session.begin_turn("new")
    out.take_messages()

    session.attribute_to("old")
    session.result("c", "all of it", exit_code=0)
    session.attribute_to("new")
    session.text("event", "on we go")

    result, text = out.take_messages()
    assert isinstance(result, ToolResult)
    assert (result.turn_id, result.output, result.status) == ("old", "all of it", "completed")
    assert isinstance(text, Text)
    assert text.turn_id == "new"


def test_a_late_word_about_a_turn_does_not_open_another(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_turn("old")
    session.end_turn("completed")
    out.take_messages()

    session.attribute_to("old")
    session.text("event", "late")

    assert session.has_ended("old")
    assert out.take_messages() == [Text(session_id="s", turn_id="old", text="late")]
    assert not session.in_turn


def test_a_turn_that_is_begun_again_is_no_longer_over(session: SessionAssembler) -> None:
    session.begin_turn("0")
    session.end_turn("completed")
    session.begin_turn("0")

    assert not session.has_ended("0")
    assert not session.is_other_turn("0")


def test_only_a_name_can_be_that_of_another_turn(session: SessionAssembler) -> None:
    session.begin_turn("t")

    assert session.open_turn == "t"
    assert session.is_other_turn("u")
    assert not session.is_other_turn("t")
    assert not session.is_other_turn(None)


def test_what_is_said_outside_a_turn_opens_one(out: Output, session: SessionAssembler) -> None:
    session.text("event", "hello")

    assert types(out.take_messages()) == ["TurnStarted", "Text"]
    assert session.in_turn


# How a turn ends.


@pytest.mark.parametrize("outcome", ["completed", "failed", "interrupted"])
def test_a_turn_ends_as_the_harness_says(
    out: Output, session: SessionAssembler, outcome: Outcome
) -> None:
    session.begin_turn("t")
    session.end_turn(outcome)

    assert ended(out).outcome == outcome


def test_an_error_on_the_way_makes_the_turn_fail(out: Output, session: SessionAssembler) -> None:
    session.begin_turn("t")
    session.fail_turn(LIMIT)
    session.end_turn("completed")

    end = ended(out)
    assert (end.outcome, end.error) == ("failed", LIMIT)
    assert reasons(out) == ["error: the turn's end carries it"]


def test_the_error_at_the_end_outweighs_one_on_the_way(
    out: Output, session: SessionAssembler
) -> None:
    last = TurnError("turn_failed", "in the end", retryable=True)
    session.begin_turn("t")
    session.fail_turn(LIMIT)
    session.end_turn("failed", last)

    assert ended(out).error == last


def test_an_interrupted_turn_did_not_fail(out: Output, session: SessionAssembler) -> None:
    session.begin_turn("t")
    session.fail_turn(LIMIT)
    session.end_turn("interrupted")

    end = ended(out)
    assert (end.outcome, end.error) == ("interrupted", None)


def test_one_turn_s_error_is_not_the_next_one_s(out: Output, session: SessionAssembler) -> None:
    session.begin_turn("a")
    session.fail_turn(LIMIT)
    session.end_turn("failed")
    out.take_messages()

    session.begin_turn("b")
    session.end_turn("completed")

    end = ended(out)
    assert (end.outcome, end.error) == ("completed", None)


def test_a_turn_ends_with_its_own_tokens(out: Output, session: SessionAssembler) -> None:
    session.begin_turn("a")
    session.usage(Usage(140, output_tokens=20), None)
    session.end_turn("completed")
    session.begin_turn("b")
    session.usage(Usage(300, output_tokens=50), None)
    session.end_turn("completed")

    ends = [message for message in out.take_messages() if isinstance(message, TurnEnded)]
    assert [end.usage for end in ends] == [
        Usage(140, output_tokens=20),
        Usage(160, output_tokens=30),
    ]


@pytest.mark.parametrize(
    ("says_ends", "last_word", "outcome"),
    [
        (True, "text", "interrupted"),
        (True, "call", "interrupted"),
        (False, "text", "completed"),
        (False, "prompt", "interrupted"),
        (False, "thinking", "interrupted"),
        (False, "call", "interrupted"),
    ],
)
def test_a_turn_without_an_end_was_cut_off_unless_the_dialect_never_says_and_the_agent_was_done(
    out: Output, session: SessionAssembler, says_ends: bool, last_word: str, outcome: Outcome
) -> None:
    session.says_ends = says_ends
    session.begin_turn("t")
    session.text("event", "first")
    match last_word:
        case "text":
            session.text("event", "that is all")
        case "prompt":
            session.prompt("event", "and now?")
        case "thinking":
            session.thinking("event", ["hm"])
        case _:
            session.call("c", "Bash", "shell", {})

    session.leave()

    assert ended(out).outcome == outcome


def test_a_turn_that_is_left_after_an_error_has_failed(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_turn("t")
    session.fail_turn(LIMIT)
    session.leave()

    end = ended(out)
    assert (end.outcome, end.error) == ("failed", LIMIT)


def test_leaving_where_no_turn_is_open_says_nothing(out: Output, session: SessionAssembler) -> None:
    session.leave()

    assert out.take_messages() == []


# Reviews.


def test_a_review_that_begins_before_its_turn_is_told_in_it_under_its_own_line(
    out: Output, session: SessionAssembler
) -> None:
    out.line = 3
    session.begin_review("current changes")
    out.line = 4
    session.begin_turn("t")

    assert out.take_messages() == [
        TurnStarted(session_id="s", turn_id="t", line=4),
        Notice(
            session_id="s",
            turn_id="t",
            line=3,
            level="info",
            text="review of current changes began",
        ),
    ]


def test_a_review_is_begun_once_and_without_a_name_if_nobody_gives_one(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_turn("t")
    session.begin_review("")
    session.begin_review("current changes")

    assert [message.text for message in out.take_messages() if isinstance(message, Notice)] == [
        "review began"
    ]
    assert reasons(out) == ["review: started before"]


def test_the_reviewer_s_own_turn_is_part_of_the_one_that_asked(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_turn("asked")
    session.begin_review("current changes")
    session.begin_turn("reviewer")
    session.text("event", "Two problems were found.")
    session.end_turn("completed")

    messages = out.take_messages()
    assert types(messages) == ["TurnStarted", "Notice", "Text", "TurnEnded"]
    assert {message.turn_id for message in messages} == {"asked"}


def test_where_ends_are_never_said_a_review_ends_the_turn_before_it(
    out: Output, session: SessionAssembler
) -> None:
    session.says_ends = False
    session.begin_turn("a")
    session.text("event", "done")
    session.begin_review("current changes")
    session.begin_turn("b")

    assert types(out.take_messages()) == [
        "TurnStarted",
        "Text",
        "TurnEnded",
        "TurnStarted",
        "Notice",
    ]


def test_in_a_review_words_are_told_once_though_a_channel_repeats_them(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_turn("t")
    session.begin_review("current changes")
    session.text("event", "Fine.")
    session.end_review()
    session.text("event", "Fine.")
    session.end_turn("completed")
    session.begin_turn("next")
    session.text("event", "Fine.")
    session.text("event", "Fine.")

    texts = [message for message in out.take_messages() if isinstance(message, Text)]
    assert [text.turn_id for text in texts] == ["t", "next", "next"]


def test_a_review_at_the_end_of_a_stream_is_told_though_no_turn_follows(
    out: Output, session: SessionAssembler
) -> None:
    session.begin_review("current changes")
    session.leave()

    [notice] = out.take_messages()
    assert isinstance(notice, Notice)


def test_calls_of_one_turn_are_not_those_of_the_next(
    out: Output, session: SessionAssembler
) -> None:
    """Ids are unique for a while only: a long session may use one again."""
    for turn in ("a", "b", "c"):
        session.begin_turn(turn)
        if turn != "b":
            session.call("call_1", "Bash", "shell", {})
            session.result("call_1", turn)
        session.end_turn("completed")

    messages = out.take_messages()
    assert [message.turn_id for message in messages if isinstance(message, ToolCall)] == ["a", "c"]
    assert [message.output for message in messages if isinstance(message, ToolResult)] == ["a", "c"]
