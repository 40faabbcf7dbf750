from __future__ import annotations

from datetime import UTC, datetime

from dragoman.harnesses.assembly.reviews import ReviewNotice, ReviewState


def test_a_review_is_announced_once_under_the_line_that_reported_it() -> None:
    review, at = ReviewState(), datetime(2026, 1, 2, tzinfo=UTC)
    review.begin("current changes", 3, at)

    assert review.is_open
    assert review.take_notice() == ReviewNotice("review of current changes began", 3, at)
    assert review.take_notice() is None


def test_a_review_of_something_unnamed_is_announced_too() -> None:
    review = ReviewState()
    review.begin("", 3, None)

    assert review.take_notice() == ReviewNotice("review began", 3, None)


def test_only_the_first_turn_inside_a_review_is_the_reviewers_own() -> None:
    review = ReviewState()

    assert not review.takes_turn()
    review.begin("current changes", 1, None)
    assert review.takes_turn()
    assert not review.takes_turn()


def test_a_review_ends_with_its_turn() -> None:
    review = ReviewState()
    review.begin("current changes", 1, None)
    review.takes_turn()

    review.end_turn()

    assert not review.is_open
    review.begin("current changes", 2, None)
    assert review.takes_turn()
