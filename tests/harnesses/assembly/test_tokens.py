from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.assembly.tokens import TokenCounter
from dragoman.model.usage import NOTHING, Usage

spent = st.builds(Usage, *(st.integers(0, 1000) for _ in range(5)))
some = spent.filter(lambda usage: usage.total_tokens > 0)


def total_of(turns: list[Usage | None]) -> Usage:
    return reduce(lambda total, turn: total + (turn or NOTHING), turns, NOTHING)


@given(st.lists(st.tuples(spent, st.integers(1, 3), st.booleans())))
def test_the_turns_add_up_to_the_final_total(steps: list[tuple[Usage, int, bool]]) -> None:
    """Whatever was spent, however often each total is repeated, wherever turns end."""
    counter, total = TokenCounter(), NOTHING
    turns: list[Usage | None] = []

    for step, repeats, ends in steps:
        total += step
        last = step if turns else None  # at first nothing is known but the total
        for _ in range(repeats):
            counter.count(total, last, old=False)
        if ends:
            turns.append(counter.take_turn())
    turns.append(counter.take_turn())

    assert total_of(turns) == total


@given(st.lists(st.tuples(some, st.booleans()), min_size=1))
def test_records_of_single_responses_add_up_too(steps: list[tuple[Usage, bool]]) -> None:
    counter, total = TokenCounter(), NOTHING
    turns: list[Usage | None] = []

    for own, ends in steps:
        total += own
        counter.record(total, own)
        if ends:
            turns.append(counter.take_turn())
    turns.append(counter.take_turn())

    assert total_of(turns) == total == counter.total


@given(st.lists(st.lists(some, min_size=1), min_size=1))
def test_reports_without_a_total_are_added_up(turns: list[list[Usage]]) -> None:
    counter = TokenCounter()

    for turn in turns:
        for last in turn:
            assert counter.count(None, last, old=False)

        assert counter.take_turn() == total_of(list(turn))
    assert counter.total == total_of([last for turn in turns for last in turn])


def test_only_a_total_that_changed_says_anything_new() -> None:
    counter = TokenCounter()

    assert counter.count(Usage(120, 40, 0, 20), None, old=False)
    assert not counter.count(Usage(120, 40, 0, 20), Usage(120, 40, 0, 20), old=False)
    assert counter.count(Usage(260, 40, 0, 40), None, old=False)
    assert not counter.count(None, None, old=False)


def test_a_total_of_nothing_says_nothing() -> None:
    counter = TokenCounter()

    assert not counter.count(NOTHING, None, old=False)
    assert counter.take_turn() is None


def test_a_turn_that_nobody_counted_has_no_tokens_rather_than_none() -> None:
    assert TokenCounter().take_turn() is None


def test_a_turn_is_the_difference_between_two_totals() -> None:
    counter = TokenCounter()
    counter.count(Usage(140, 40, 0, 20, 5), None, old=False)
    counter.take_turn()

    counter.count(Usage(300, 90, 0, 50, 9), None, old=False)

    assert counter.take_turn() == Usage(160, 50, 0, 30, 4)
    assert counter.take_turn() is None


def test_coming_in_late_only_the_newest_response_is_counted() -> None:
    """A stream that joins a running session sees a total with earlier turns in it."""
    counter = TokenCounter()
    counter.count(Usage(900, output_tokens=90), Usage(100, output_tokens=10), old=False)
    counter.count(Usage(1050, output_tokens=100), Usage(150, output_tokens=10), old=False)

    assert counter.take_turn() == Usage(250, output_tokens=20)
    assert counter.total == Usage(1050, output_tokens=100)


def test_when_nothing_was_spent_before_the_whole_first_total_counts() -> None:
    counter = TokenCounter()
    counter.start()
    counter.count(Usage(900, output_tokens=90), Usage(100, output_tokens=10), old=False)

    assert counter.take_turn() == Usage(900, output_tokens=90)


def test_a_session_that_has_counted_does_not_start_again() -> None:
    counter = TokenCounter()
    counter.count(Usage(10), None, old=False)
    counter.start()

    assert counter.total == Usage(10)


def test_an_old_total_only_sets_the_mark() -> None:
    counter = TokenCounter()
    counter.count(Usage(500, output_tokens=50), Usage(80, output_tokens=8), old=True)
    counter.count(Usage(600, output_tokens=60), Usage(100, output_tokens=10), old=False)

    assert counter.take_turn() == Usage(100, output_tokens=10)


def test_an_old_total_in_the_middle_of_a_turn_keeps_what_the_turn_has_spent() -> None:
    counter = TokenCounter()
    counter.start()
    counter.count(Usage(100), None, old=False)
    counter.count(Usage(700), None, old=True)
    counter.count(Usage(730), None, old=False)

    assert counter.take_turn() == Usage(130)


@pytest.mark.parametrize(
    ("last", "own"),
    [
        pytest.param(None, Usage(130, output_tokens=13), id="from nothing"),
        pytest.param(
            Usage(20, output_tokens=2), Usage(120, output_tokens=12), id="back to an earlier mark"
        ),
        pytest.param(
            Usage(999, output_tokens=2), Usage(130, output_tokens=13), id="a last that cannot be"
        ),
    ],
)
def test_a_counter_that_went_back_loses_nothing(last: Usage | None, own: Usage) -> None:
    counter = TokenCounter()
    counter.start()
    counter.count(Usage(100, output_tokens=10), None, old=False)
    counter.count(Usage(30, output_tokens=3), last, old=False)

    assert counter.take_turn() == own


def test_a_record_without_a_total_goes_on_from_the_last_one() -> None:
    counter = TokenCounter()
    counter.count(Usage(100), None, old=False)
    counter.record(None, Usage(7))

    assert counter.total == Usage(107)
    assert counter.take_turn() == Usage(107)


def test_a_record_counts_its_own_tokens_whatever_its_total_says() -> None:
    """A forked session's totals begin with its parent's."""
    counter = TokenCounter()
    counter.record(Usage(1130), Usage(130))

    assert counter.take_turn() == Usage(130)
    assert counter.total == Usage(1130)


def test_a_record_whose_total_does_not_follow_from_the_last_counts_its_own_tokens() -> None:
    counter = TokenCounter()
    counter.start()
    counter.count(Usage(100, output_tokens=10), None, old=False)
    counter.record(Usage(1130, output_tokens=40), Usage(130, output_tokens=30))
    counter.record(Usage(1200, output_tokens=41), Usage(7, output_tokens=1))

    assert counter.take_turn() == Usage(237, output_tokens=41)
