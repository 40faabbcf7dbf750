from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.model.usage import NOTHING, Usage

counts = st.integers(0, 10**6)
usages = st.builds(Usage, counts, counts, counts, counts, counts)


def test_the_total_is_input_plus_output_since_the_other_counts_are_parts_of_them() -> None:
    assert Usage(100, 60, 10, 20, 15).total_tokens == 120


def test_usages_are_added_count_by_count() -> None:
    assert Usage(1, 2, 3, 4, 5) + Usage(10, 20, 30, 40, 50) == Usage(11, 22, 33, 44, 55)


def test_the_difference_of_two_totals_is_what_was_spent_between() -> None:
    assert Usage(300, 100, 7, 40, 9) - Usage(140, 60, 2, 15, 4) == Usage(160, 40, 5, 25, 5)


def test_a_total_that_went_down_was_started_anew_so_all_of_it_is_new() -> None:
    assert Usage(50, 10, 0, 40, 1) - Usage(140, 0, 0, 15) == Usage(50, 10, 0, 40, 1)
    assert Usage(500, 10, 0, 4, 1) - Usage(140, 0, 0, 15) == Usage(500, 10, 0, 4, 1)


def test_a_part_that_went_down_counts_as_nothing_rather_than_less_than_that() -> None:
    assert Usage(300, 10, 1, 40, 2) - Usage(140, 60, 2, 15, 4) == Usage(160, 0, 0, 25, 0)


@given(usages, usages)
def test_adding_and_taking_away_again_changes_nothing(one: Usage, other: Usage) -> None:
    assert (one + other) - one == other


@given(usages, usages)
def test_a_difference_is_never_negative(one: Usage, other: Usage) -> None:
    spent = one - other

    assert min(
        spent.input_tokens,
        spent.cached_input_tokens,
        spent.cache_write_input_tokens,
        spent.output_tokens,
        spent.reasoning_output_tokens,
    ) >= 0  # fmt: skip


def test_a_usage_fits_in_a_total_that_is_no_smaller_in_input_and_output() -> None:
    assert Usage(10, 9, 0, 5).fits_in(Usage(10, 0, 0, 5))
    assert not Usage(11, 0, 0, 5).fits_in(Usage(10, 0, 0, 5))
    assert not Usage(10, 0, 0, 6).fits_in(Usage(10, 0, 0, 5))


def test_only_a_usage_of_nothing_is_false() -> None:
    assert not NOTHING
    assert not Usage()
    assert Usage(reasoning_output_tokens=1)
