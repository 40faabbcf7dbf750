from __future__ import annotations

from dragoman.rehearsal.agents.homes import merged


def test_tables_are_merged_and_the_second_is_right() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": {"e": 5}}) == {
        "a": {"b": 1, "c": 4},
        "d": {"e": 5},
    }
