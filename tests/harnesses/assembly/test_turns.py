from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.turns import TurnLifecycle
from dragoman.model.messages import Outcome, TurnError

CODED = TurnError("turn_failed", "out of room", retryable=False, native="contextWindowExceeded")
PLAIN = TurnError("turn_failed", "out of room", retryable=False)
DETAILED = TurnError("turn_failed", "out of room", retryable=False, details="200k tokens")
OTHER = TurnError("turn_failed", "no network", retryable=True)


def test_a_turn_without_an_id_is_numbered() -> None:
    turns = TurnLifecycle()

    assert turns.begin(None) == "turn-1"
    turns.end()
    assert turns.begin("t") == "t"
    turns.end()
    assert turns.begin(None) == "turn-3"


def test_a_turn_is_open_until_it_ends() -> None:
    turns = TurnLifecycle()
    turns.begin("t")

    assert turns.open_turn == "t"
    assert not turns.has_ended("t")
    turns.end()
    assert turns.open_turn is None
    assert turns.has_ended("t")


def test_an_id_that_is_used_again_names_an_open_turn() -> None:
    turns = TurnLifecycle()
    turns.begin("0")
    turns.end()
    turns.begin("0")

    assert not turns.has_ended("0")


def test_ending_when_no_turn_is_open_changes_nothing() -> None:
    turns = TurnLifecycle()
    turns.end()

    assert turns.recent(8) == []


@pytest.mark.parametrize(
    ("named", "is_other"), [(None, False), ("open", False), ("ended", True), ("unknown", True)]
)
def test_only_another_id_names_another_turn(named: str | None, is_other: bool) -> None:
    turns = TurnLifecycle()
    turns.begin("ended")
    turns.end()
    turns.begin("open")

    assert turns.is_other(named) == is_other


@pytest.mark.parametrize(
    ("named", "turn", "is_late"),
    [
        (None, "open", False),
        ("open", "open", False),
        ("ended", "ended", True),
        ("?", "open", False),
    ],
)
def test_content_belongs_to_the_ended_turn_it_names_or_else_to_the_open_one(
    named: str | None, turn: str, is_late: bool
) -> None:
    turns = TurnLifecycle()
    turns.begin("ended")
    turns.end()
    turns.begin("open")

    assert turns.attribute(named) == turn
    assert turns.is_late == is_late


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
    turns = TurnLifecycle()
    turns.says_ends = says_ends
    turns.begin("t")
    turns.text_was_last = text_was_last

    assert turns.outcome_unsaid(calls_open=calls_open) == outcome


def test_an_error_shows_an_end() -> None:
    turns = TurnLifecycle()
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
    turns = TurnLifecycle()
    turns.begin("t")

    assert turns.add_error(before) is None
    assert turns.add_error(after) is None
    assert turns.error == kept


def test_another_error_displaces_the_one_before() -> None:
    turns = TurnLifecycle()
    turns.begin("t")
    turns.add_error(CODED)

    assert turns.add_error(OTHER) == CODED
    assert turns.error == OTHER


def test_the_next_turn_starts_without_the_state_of_the_one_before() -> None:
    turns = TurnLifecycle()
    turns.begin("a")
    turns.add_error(OTHER)
    turns.text_was_last = turns.has_text = True
    turns.end()
    turns.begin("b")

    assert turns.error is None
    assert not turns.text_was_last
    assert not turns.has_text


def test_another_lifecycle_continues_the_count_and_knows_the_turns_that_ended_last() -> None:
    first, second = TurnLifecycle(), TurnLifecycle()
    for _ in range(3):
        first.begin(None)
        first.end()

    second.restore(first.count, first.recent(2))

    assert [second.has_ended(f"turn-{n}") for n in (1, 2, 3)] == [False, True, True]
    assert second.begin(None) == "turn-4"


def test_turns_are_undone_once_and_have_ended_all_the_same() -> None:
    turns = TurnLifecycle()
    for name in "abc":
        turns.begin(name)
        turns.end()

    assert turns.undo_from("b") == 2
    assert turns.undo_from("a") == 1
    assert turns.undo_from("never seen") == 0
    assert turns.has_ended("c")
