from __future__ import annotations

import json
from random import Random

from dragoman.testing.mutations import mutated, places

_LINES = [json.dumps({"type": "say", "text": "hello", "more": [1, {"a": 2}]}).encode()] * 5


def test_the_same_random_numbers_do_the_same_damage() -> None:
    assert mutated(Random(7), _LINES) == mutated(Random(7), _LINES)
    assert len({tuple(mutated(Random(seed), _LINES)) for seed in range(30)}) > 20


def test_the_lines_that_are_given_are_not_changed() -> None:
    given = list(_LINES)

    for seed in range(50):
        mutated(Random(seed), given)

    assert given == _LINES


def test_lines_of_other_streams_are_inserted_now_and_then() -> None:
    made = [line for seed in range(300) for line in mutated(Random(seed), _LINES, [b"stranger"])]

    assert b"stranger" in made


def test_nothing_can_be_damaged_in_nothing() -> None:
    assert mutated(Random(0), []) == []


def test_every_place_in_a_value_is_found() -> None:
    value = {"a": [1, {"b": 2}]}

    assert [key for _, key in places(value)] == ["a", 0, 1, "b"]
