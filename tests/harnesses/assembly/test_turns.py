from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dragoman.harnesses.assembly.assembler import Teller
from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.assembly.turns import Turns
from dragoman.model.messages import (
    Message,
    Notice,
    Outcome,
    SessionEnded,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from dragoman.model.usage import Usage

LIMIT = TurnError("turn_failed", "out of room", retryable=False, native="contextWindowExceeded")


@pytest.fixture
def out() -> Output:
    return Output(audit=True)


@pytest.fixture
def teller(out: Output) -> Teller:
    return Teller(out, "codex", "s")


def types(messages: list[Message]) -> list[str]:
    return [type(message).__name__ for message in messages]


def rules(out: Output) -> list[str]:
    return [twin.rule for twin in out.take_twins()]


def ended(out: Output) -> TurnEnded:
    [end] = [message for message in out.take_messages() if isinstance(message, TurnEnded)]
    return end


# The session.


def test_a_message_is_stamped_with_session_turn_time_and_line(out: Output) -> None:
    turns = Turns(out, "codex", "s")
    out.line, out.at = 7, datetime(2026, 1, 2, tzinfo=UTC)
    turns.begin_turn("t")

    assert out.take_messages() == [
        TurnStarted(session_id="s", turn_id="t", at=datetime(2026, 1, 2, tzinfo=UTC), line=7)
    ]


def test_a_session_is_told_once(out: Output, teller: Teller) -> None:
    assert not teller.is_told
    teller.begin_session(version="0.166.0", model="gpt-5.5", cwd="/workspace")
    teller.begin_session(version="0.166.0", model="gpt-5.5", cwd="/workspace")

    assert out.take_messages() == [
        SessionStarted(
            session_id="s", harness="codex", version="0.166.0", model="gpt-5.5", cwd="/workspace"
        )
    ]
    assert rules(out) == ["session: told before"]
    assert teller.is_told


@pytest.mark.parametrize(
    ("model", "cwd"), [("gpt-6.1-sol", None), (None, "/workspace/sub"), ("gpt-6.1-sol", "/else")]
)
def test_a_change_of_model_or_directory_is_told_with_all_that_is_known(
    out: Output, teller: Teller, model: str | None, cwd: str | None
) -> None:
    teller.begin_session(
        version="0.166.0", model="gpt-5.5", cwd="/workspace", parent_session_id="p"
    )
    out.take_messages()

    teller.begin_session(model=model, cwd=cwd)

    assert out.take_messages() == [
        SessionStarted(
            session_id="s",
            harness="codex",
            version="0.166.0",
            model=model or "gpt-5.5",
            cwd=cwd or "/workspace",
            parent_session_id="p",
        )
    ]
    assert teller.cwd == (cwd or "/workspace")


def test_a_parent_that_is_heard_of_later_is_told_then(out: Output, teller: Teller) -> None:
    teller.begin_session(model="gpt-5.5", cwd="/workspace")
    teller.begin_session(parent_session_id="p")
    teller.begin_session(parent_session_id="p")

    started = [message for message in out.take_messages() if isinstance(message, SessionStarted)]
    assert [(each.model, each.parent_session_id) for each in started] == [
        ("gpt-5.5", None),
        ("gpt-5.5", "p"),
    ]


def test_facts_that_another_message_says_are_only_remembered(out: Output, teller: Teller) -> None:
    assert teller.know_facts(model="gpt-5.5", cwd="/workspace")
    assert not teller.know_facts(model="gpt-5.5")
    teller.begin_session(model="gpt-5.5", cwd="/workspace")

    assert out.take_messages() == []
    assert teller.cwd == "/workspace"


def test_a_parent_once_known_stays_the_parent(teller: Teller) -> None:
    assert teller.know_facts(parent_session_id="p")
    assert not teller.know_facts(parent_session_id="q")


def test_the_session_that_rows_were_copied_from_is_not_told(out: Output, teller: Teller) -> None:
    teller.is_copying = True
    teller.begin_session(model="gpt-5.5", cwd="/elsewhere")

    assert out.take_messages() == []
    assert rules(out) == ["session: the one that this was copied from"]
    assert teller.cwd is None


def test_a_session_ends_with_its_reason(out: Output, teller: Teller) -> None:
    teller.end_session("shutdown")

    assert out.take_messages() == [SessionEnded(session_id="s", reason="shutdown")]


# Turns.


def test_turns_without_a_name_are_counted(out: Output, teller: Teller) -> None:
    for _ in range(2):
        teller.begin_turn()
        teller.end_turn("completed")

    assert [message.turn_id for message in out.take_messages()] == [
        "turn-1",
        "turn-1",
        "turn-2",
        "turn-2",
    ]


def test_a_turn_begun_twice_is_one_turn(out: Output, teller: Teller) -> None:
    teller.begin_turn("t")
    teller.begin_turn("t")

    assert types(out.take_messages()) == ["TurnStarted"]
    assert rules(out) == ["turn: begun before"]


def test_a_turn_ended_twice_ends_once(out: Output, teller: Teller) -> None:
    teller.begin_turn("t")
    teller.end_turn("completed")
    teller.end_turn("interrupted")

    assert types(out.take_messages()) == ["TurnStarted", "TurnEnded"]
    assert rules(out) == ["turn: ended before"]


def test_a_turn_left_open_by_its_process_ends_before_the_next_begins(
    out: Output, teller: Teller
) -> None:
    teller.begin_turn("a")
    teller.begin_turn("b")

    assert out.take_messages() == [
        TurnStarted(session_id="s", turn_id="a"),
        TurnEnded(session_id="s", turn_id="a", outcome="interrupted"),
        TurnStarted(session_id="s", turn_id="b"),
    ]


def test_the_end_of_a_turn_closes_every_open_call_with_what_it_put_out(
    out: Output, teller: Teller
) -> None:
    teller.begin_turn("t")
    for call_id in ("closed", "silent", "noisy"):
        teller.call(call_id, "Bash", "shell", {"command": "make"})
    teller.result("closed", "done")
    teller.delta("event", "output", "one ", "noisy")
    teller.delta("event", "output", "two", "noisy")
    out.take_messages()

    teller.end_turn("interrupted")

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


def test_a_call_that_ends_after_its_turn_ends_under_its_turn(out: Output, teller: Teller) -> None:
    teller.begin_turn("old")
    teller.call("c", "Bash", "shell", {})
    teller.end_turn("interrupted")
    teller.begin_turn("new")
    out.take_messages()

    teller.speak_of("old")
    teller.result("c", "all of it", exit_code=0)
    teller.speak_of("new")
    teller.text("event", "on we go")

    result, text = out.take_messages()
    assert isinstance(result, ToolResult)
    assert (result.turn_id, result.output, result.status) == ("old", "all of it", "completed")
    assert isinstance(text, Text)
    assert text.turn_id == "new"


def test_a_late_word_about_a_turn_does_not_open_another(out: Output, teller: Teller) -> None:
    teller.begin_turn("old")
    teller.end_turn("completed")
    out.take_messages()

    teller.speak_of("old")
    teller.text("event", "late")

    assert teller.has_ended("old")
    assert out.take_messages() == [Text(session_id="s", turn_id="old", text="late")]
    assert not teller.in_turn


def test_a_turn_that_is_begun_again_is_no_longer_over(teller: Teller) -> None:
    teller.begin_turn("0")
    teller.end_turn("completed")
    teller.begin_turn("0")

    assert not teller.has_ended("0")
    assert not teller.is_other_turn("0")


def test_only_a_name_can_be_that_of_another_turn(teller: Teller) -> None:
    teller.begin_turn("t")

    assert teller.open_turn == "t"
    assert teller.is_other_turn("u")
    assert not teller.is_other_turn("t")
    assert not teller.is_other_turn(None)


def test_what_is_said_outside_a_turn_opens_one(out: Output, teller: Teller) -> None:
    teller.text("event", "hello")

    assert types(out.take_messages()) == ["TurnStarted", "Text"]
    assert teller.in_turn


# How a turn ends.


@pytest.mark.parametrize("outcome", ["completed", "failed", "interrupted"])
def test_a_turn_ends_as_the_harness_says(out: Output, teller: Teller, outcome: Outcome) -> None:
    teller.begin_turn("t")
    teller.end_turn(outcome)

    assert ended(out).outcome == outcome


def test_an_error_on_the_way_makes_the_turn_fail(out: Output, teller: Teller) -> None:
    teller.begin_turn("t")
    teller.fail_turn(LIMIT)
    teller.end_turn("completed")

    end = ended(out)
    assert (end.outcome, end.error) == ("failed", LIMIT)
    assert rules(out) == ["error: the turn's end says it"]


def test_the_error_at_the_end_outweighs_one_on_the_way(out: Output, teller: Teller) -> None:
    last = TurnError("turn_failed", "in the end", retryable=True)
    teller.begin_turn("t")
    teller.fail_turn(LIMIT)
    teller.end_turn("failed", last)

    assert ended(out).error == last


def test_an_interrupted_turn_did_not_fail(out: Output, teller: Teller) -> None:
    teller.begin_turn("t")
    teller.fail_turn(LIMIT)
    teller.end_turn("interrupted")

    end = ended(out)
    assert (end.outcome, end.error) == ("interrupted", None)


def test_one_turn_s_error_is_not_the_next_one_s(out: Output, teller: Teller) -> None:
    teller.begin_turn("a")
    teller.fail_turn(LIMIT)
    teller.end_turn("failed")
    out.take_messages()

    teller.begin_turn("b")
    teller.end_turn("completed")

    end = ended(out)
    assert (end.outcome, end.error) == ("completed", None)


def test_a_turn_ends_with_its_own_tokens(out: Output, teller: Teller) -> None:
    teller.begin_turn("a")
    teller.usage(Usage(140, output_tokens=20), None)
    teller.end_turn("completed")
    teller.begin_turn("b")
    teller.usage(Usage(300, output_tokens=50), None)
    teller.end_turn("completed")

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
    out: Output, teller: Teller, says_ends: bool, last_word: str, outcome: Outcome
) -> None:
    teller.says_ends = says_ends
    teller.begin_turn("t")
    teller.text("event", "first")
    match last_word:
        case "text":
            teller.text("event", "that is all")
        case "prompt":
            teller.prompt("event", "and now?")
        case "thinking":
            teller.thinking("event", ["hm"])
        case _:
            teller.call("c", "Bash", "shell", {})

    teller.leave()

    assert ended(out).outcome == outcome


def test_a_turn_that_is_left_after_an_error_has_failed(out: Output, teller: Teller) -> None:
    teller.begin_turn("t")
    teller.fail_turn(LIMIT)
    teller.leave()

    end = ended(out)
    assert (end.outcome, end.error) == ("failed", LIMIT)


def test_leaving_where_no_turn_is_open_says_nothing(out: Output, teller: Teller) -> None:
    teller.leave()

    assert out.take_messages() == []


# Reviews.


def test_a_review_that_begins_before_its_turn_is_told_in_it_under_its_own_line(
    out: Output, teller: Teller
) -> None:
    out.line = 3
    teller.begin_review("current changes")
    out.line = 4
    teller.begin_turn("t")

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
    out: Output, teller: Teller
) -> None:
    teller.begin_turn("t")
    teller.begin_review("")
    teller.begin_review("current changes")

    assert [message.text for message in out.take_messages() if isinstance(message, Notice)] == [
        "review began"
    ]
    assert rules(out) == ["review: begun before"]


def test_the_reviewer_s_own_turn_is_part_of_the_one_that_asked(out: Output, teller: Teller) -> None:
    teller.begin_turn("asked")
    teller.begin_review("current changes")
    teller.begin_turn("reviewer")
    teller.text("event", "Two problems were found.")
    teller.end_turn("completed")

    messages = out.take_messages()
    assert types(messages) == ["TurnStarted", "Notice", "Text", "TurnEnded"]
    assert {message.turn_id for message in messages} == {"asked"}


def test_where_ends_are_never_said_a_review_ends_the_turn_before_it(
    out: Output, teller: Teller
) -> None:
    teller.says_ends = False
    teller.begin_turn("a")
    teller.text("event", "done")
    teller.begin_review("current changes")
    teller.begin_turn("b")

    assert types(out.take_messages()) == [
        "TurnStarted",
        "Text",
        "TurnEnded",
        "TurnStarted",
        "Notice",
    ]


def test_in_a_review_words_are_told_once_though_a_channel_repeats_them(
    out: Output, teller: Teller
) -> None:
    teller.begin_turn("t")
    teller.begin_review("current changes")
    teller.text("event", "Fine.")
    teller.end_review()
    teller.text("event", "Fine.")
    teller.end_turn("completed")
    teller.begin_turn("next")
    teller.text("event", "Fine.")
    teller.text("event", "Fine.")

    texts = [message for message in out.take_messages() if isinstance(message, Text)]
    assert [text.turn_id for text in texts] == ["t", "next", "next"]


def test_a_review_at_the_end_of_a_stream_is_told_though_no_turn_follows(
    out: Output, teller: Teller
) -> None:
    teller.begin_review("current changes")
    teller.leave()

    [notice] = out.take_messages()
    assert isinstance(notice, Notice)


def test_calls_of_one_turn_are_not_those_of_the_next(out: Output, teller: Teller) -> None:
    """Ids are unique for a while only: a long session may use one again."""
    for turn in ("a", "b", "c"):
        teller.begin_turn(turn)
        if turn != "b":
            teller.call("call_1", "Bash", "shell", {})
            teller.result("call_1", turn)
        teller.end_turn("completed")

    messages = out.take_messages()
    assert [message.turn_id for message in messages if isinstance(message, ToolCall)] == ["a", "c"]
    assert [message.output for message in messages if isinstance(message, ToolResult)] == ["a", "c"]
