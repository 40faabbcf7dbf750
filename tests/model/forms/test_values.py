"""Choices in a schema, and values as people see them."""

from __future__ import annotations

from dragoman.model.forms.values import FieldChoice, choices_of, offered, same, shown


def test_titles_that_do_not_fit_the_values_are_left_out() -> None:
    assert choices_of({"enum": ["a", 2], "enumNames": ["A"]}) == [
        FieldChoice("a", "a"),
        FieldChoice(2, "2"),
    ]


def test_options_that_are_not_constants_are_no_choices() -> None:
    assert choices_of({"anyOf": [{"const": 1}, {"type": "string"}]}) == []


def test_a_number_is_not_a_truth_value() -> None:
    assert same(1, 1.0)
    assert not same(1, True)


def test_what_is_shown_is_bounded() -> None:
    assert len(shown("x" * 1000)) == 60
    assert offered([FieldChoice(n, str(n)) for n in range(99)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 …"
    assert shown(float("nan")) == "null"
