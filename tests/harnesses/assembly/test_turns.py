from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.output import Output, SessionOutput
from dragoman.harnesses.assembly.turns import TurnLifecycle
from dragoman.model.messages import Notice, Outcome, Text, TurnError, TurnStarted

CODED = TurnError("turn_failed", "out of room", retryable=False, native="contextWindowExceeded")
PLAIN = TurnError("turn_failed", "out of room", retryable=False)
DETAILED = TurnError("turn_failed", "out of room", retryable=False, details="200k tokens")
OTHER = TurnError("turn_failed", "no network", retryable=True)


def lifecycle(stream: Output | None = None) -> TurnLifecycle:
    return TurnLifecycle(SessionOutput(stream or Output(audit=False), "s"))


def test_a_turn_without_an_id_is_numbered() -> None:
    stream = Output(audit=False)
    turns = lifecycle(stream)
    for turn_id in (None, "t", None):
        turns.begin(turn_id)
        turns.end()

    assert stream.take_messages() == [
        TurnStarted(session_id="s", turn_id=name) for name in ("turn-1", "t", "turn-3")
    ]


def test_a_turn_is_open_until_it_ends() -> None:
    turns = lifecycle()
    turns.begin("t")

    assert turns.open_turn == "t"
    assert not turns.has_ended("t")
    turns.end()
    assert turns.open_turn is None
    assert turns.has_ended("t")


def test_an_id_that_is_used_again_names_an_open_turn() -> None:
    turns = lifecycle()
    turns.begin("0")
    turns.end()
    turns.begin("0")

    assert not turns.has_ended("0")


def test_ending_when_no_turn_is_open_changes_nothing() -> None:
    turns = lifecycle()
    turns.end()

    assert turns.recent(8) == []


@pytest.mark.parametrize(
    ("named", "is_other"), [(None, False), ("open", False), ("ended", True), ("unknown", True)]
)
def test_only_another_id_names_another_turn(named: str | None, is_other: bool) -> None:
    turns = lifecycle()
    turns.begin("ended")
    turns.end()
    turns.begin("open")

    assert turns.is_other(named) == is_other


@pytest.mark.parametrize(
    ("named", "turn"), [(None, "open"), ("open", "open"), ("ended", "ended"), ("?", "open")]
)
def test_content_belongs_to_the_ended_turn_it_names_or_else_to_the_open_one(
    named: str | None, turn: str
) -> None:
    out = SessionOutput(Output(audit=False), "s")
    turns = TurnLifecycle(out)
    turns.begin("ended")
    turns.end()
    turns.begin("open")
    out.stream.take_messages()

    turns.attribute_to(named)
    out.emit(Text, text="late")

    assert [message.turn_id for message in out.stream.take_messages()] == [turn]


def test_content_opens_a_turn_unless_it_is_about_one_that_has_ended() -> None:
    turns = lifecycle()
    turns.begin("ended")
    turns.end()

    turns.attribute_to("ended")
    turns.ensure()
    assert turns.open_turn is None
    turns.attribute_to(None)
    turns.ensure()
    assert turns.open_turn == "turn-2"


def test_between_two_turns_the_one_who_asked_is_called() -> None:
    turns = lifecycle()
    seen: list[str | None] = []
    turns.before_turn = lambda: seen.append(turns.open_turn)
    for name in "ab":
        turns.begin(name)
        turns.end()

    assert seen == [None, None]


def test_a_review_is_announced_in_its_turn_under_its_own_line() -> None:
    stream = Output(audit=False)
    turns = lifecycle(stream)
    turns.review.begin("current changes", 3, None)
    stream.line = 4
    turns.begin("t")

    text = "review of current changes began"
    assert stream.take_messages() == [
        TurnStarted(session_id="s", turn_id="t", line=4),
        Notice(session_id="s", turn_id="t", line=3, level="info", text=text),
    ]


@pytest.mark.parametrize(
    ("says_ends", "text_was_last", "calls_open", "outcome"),
    [
        (False, True, False, "completed"),
        (False, True, True, None),
        (False, False, False, None),
        (True, True, False, None),
    ],
)
def test_content_shows_an_end_only_if_the_dialect_reports_none_and_the_agent_had_the_last_word(
    says_ends: bool, text_was_last: bool, calls_open: bool, outcome: Outcome | None
) -> None:
    turns = lifecycle()
    turns.says_ends = says_ends
    turns.begin("t")
    turns.text_was_last = text_was_last

    assert turns.outcome_unsaid(calls_open=calls_open) == outcome


def test_an_error_shows_an_end() -> None:
    turns = lifecycle()
    turns.begin("t")
    turns.add_error(OTHER)

    assert turns.outcome_unsaid(calls_open=True) == "completed"


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (CODED, CODED, CODED),
        (CODED, PLAIN, CODED),
        (PLAIN, CODED, CODED),
        (
            CODED,
            DETAILED,
            TurnError("turn_failed", "out of room", False, "contextWindowExceeded", "200k tokens"),
        ),
        (
            DETAILED,
            CODED,
            TurnError("turn_failed", "out of room", False, "contextWindowExceeded", "200k tokens"),
        ),
    ],
)
def test_reports_of_one_error_are_merged(
    before: TurnError, after: TurnError, kept: TurnError
) -> None:
    turns = lifecycle()
    turns.begin("t")

    assert turns.add_error(before) is None
    assert turns.add_error(after) is None
    assert turns.error == kept


def test_another_error_displaces_the_one_before() -> None:
    turns = lifecycle()
    turns.begin("t")
    turns.add_error(CODED)

    assert turns.add_error(OTHER) == CODED
    assert turns.error == OTHER


def test_the_next_turn_starts_without_the_state_of_the_one_before() -> None:
    turns = lifecycle()
    turns.begin("a")
    turns.add_error(OTHER)
    turns.text_was_last = turns.has_text = True
    turns.end()
    turns.begin("b")

    assert turns.error is None
    assert not turns.text_was_last
    assert not turns.has_text


def test_another_lifecycle_continues_the_count_and_knows_the_turns_that_ended_last() -> None:
    first, second = lifecycle(), lifecycle()
    for _ in range(3):
        first.begin(None)
        first.end()

    second.restore(first.count, first.recent(2))

    assert [second.has_ended(f"turn-{n}") for n in (1, 2, 3)] == [False, True, True]
    second.begin(None)
    assert second.open_turn == "turn-4"


def test_turns_are_undone_once_and_have_ended_all_the_same() -> None:
    turns = lifecycle()
    for name in "abc":
        turns.begin(name)
        turns.end()

    assert turns.undo_from("b") == 2
    assert turns.undo_from("a") == 1
    assert turns.undo_from("never seen") == 0
    assert turns.has_ended("c")
