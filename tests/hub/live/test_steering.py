from __future__ import annotations

from datetime import UTC, datetime

from dragoman.hub.live.steering import accepted, returned, steered, without
from dragoman.hub.shapes import Steered

AT = datetime(2026, 11, 18, tzinfo=UTC)


def said(*texts: str) -> list[Steered]:
    return [steered(each, AT) for each in texts]


def test_each_has_a_name_of_its_own() -> None:
    one, other = said("a", "a")

    assert one.id != other.id
    assert without([one, other], one.id) == [other]


def test_of_the_same_words_twice_the_first_is_taken_up() -> None:
    waiting = said("a", "b", "a")

    assert accepted(waiting, "a") == waiting[1:]
    assert accepted(waiting, "c") == waiting


def test_white_space_makes_no_difference() -> None:
    assert accepted(said(" a\r\nb  "), "a\nb") == []


def test_what_is_left_at_the_end_of_the_turn_is_returned() -> None:
    waiting = said("a")

    assert [(each.text, each.state) for each in returned(waiting)] == [("a", "returned")]
    assert waiting[0].state == "pending"
