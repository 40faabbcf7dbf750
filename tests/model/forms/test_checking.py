"""What fits a form and what does not; whatever the schema holds, nothing raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.model.forms import fields, problems

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("type", "enum", "enumNames", "oneOf", "anyOf", "const", "title", "items"),
                    *("properties", "required", "minLength", "maxLength", "pattern", "format"),
                    *("minimum", "maximum", "minItems", "maxItems", "uniqueItems", "name", "$ref"),
                ]
            ),
            inner | st.sampled_from(["string", "object", "array", "email", "date", "integer"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


def _one(own: dict[str, Any], value: Any) -> list[str]:
    return problems({"type": "object", "properties": {"it": own}}, {"it": value})


_CASES: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "string"}, ["", "x"], [1, None, True, [], {}]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc", "😀😀"], ["a", "abcd"]),
    ({"type": "string", "pattern": "^v[0-9]+$"}, ["v1"], ["v", "xv1", "v1\n"]),
    (
        {"type": "string", "format": "email"},
        ["a@b.c", "a@localhost"],
        ["a", "a@", "a b@c", "@b"],
    ),
    (
        {"type": "string", "format": "uri"},
        ["https://a.b/c?d#e", "mailto:a@b"],
        ["a", "/a", "http://a b", "http://[", ""],
    ),
    ({"type": "string", "format": "date"}, ["2024-02-29"], ["2023-02-29", "20240229", "x"]),
    (
        {"type": "string", "format": "date-time"},
        ["2024-02-29T23:59:60Z", "2024-01-01T00:00:00.5+01:00", "2024-01-01t00:00:00z"],
        ["2024-01-01", "2024-01-01T00:00:00", "2023-02-29T00:00:00Z", "2024-01-01T24:00:00Z"],
    ),
    ({"type": "string", "format": "no-such-format"}, ["x"], [1]),
    ({"type": "integer"}, [1, 2.0, -3, 10**30], [1.5, True, "1", float("nan")]),
    ({"type": "number"}, [1, 1.5], [True, "1", float("nan"), float("inf")]),
    ({"type": "number", "minimum": 1, "maximum": 2.5}, [1, 2.5], [0.9, 2.6]),
    ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3}, [2], [1, 3]),
    ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}, ["a"], ["A", "c", 1]),
    ({"enum": [1, True]}, [1, True, 1.0], [0, False, "1"]),
    (
        {"type": "string", "oneOf": [{"const": "x", "title": "X"}, {"const": "y"}]},
        ["x", "y"],
        ["X", ""],
    ),
    ({"anyOf": [{"const": "x", "title": "X"}]}, ["x"], ["y"]),
    (
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2},
        [["a"], ["a", "b"]],
        [[], ["a", "b", "c"], ["d"], "a", {"a": 1}],
    ),
    (
        {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
        [[], ["a"], ["a", "a"]],
        [["A"]],
    ),
    ({"type": "array", "items": {"enum": ["a"]}, "uniqueItems": True}, [["a"]], [["a", "a"]]),
    ({"type": ["string", "null"]}, ["x", None], [1]),
    ({"const": 3}, [3], [4]),
    ({}, [1, "x", None, {"a": [1]}], []),
    (
        {"type": "object", "properties": {"in": {"type": "integer"}}, "required": ["in"]},
        [{"in": 1}],
        [{}, {"in": "x"}],
    ),
]


@pytest.mark.parametrize(("own", "fits", "does_not"), _CASES)
def test_what_fits_a_field(own: dict[str, Any], fits: list[Any], does_not: list[Any]) -> None:
    for value in fits:
        assert _one(own, value) == [], value
    for value in does_not:
        wrong = _one(own, value)
        assert wrong, value
        assert all("it" in each for each in wrong)


def test_required_fields_must_be_there_and_each_is_named() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age", "elsewhere"],
    }
    assert problems(schema, {}) == [
        "name is required",
        "age is required",
        "elsewhere is required",
    ]
    assert problems(schema, {"name": "x", "age": "3", "elsewhere": 1}) == [
        "age must be a whole number"
    ]


def test_other_fields_are_taken_unless_the_schema_forbids_them() -> None:
    assert problems({"properties": {}}, {"more": 1}) == []
    forbidden: dict[str, Any] = {"properties": {}, "additionalProperties": False}
    assert problems(forbidden, {"more": 1}) == ["the form has no field more"]


@pytest.mark.parametrize("content", [None, [], "x", 1, True])
def test_the_content_is_an_object(content: Any) -> None:
    assert problems({}, content)


def test_a_problem_does_not_repeat_what_was_filled_in() -> None:
    own = {"type": "string", "maxLength": 3, "pattern": "^a$", "format": "email"}
    assert "hunter2" not in " ".join(_one(own, "hunter2"))
    assert "hunter2" not in " ".join(_one({"type": "integer"}, "hunter2"))


@given(schema=_JSON, content=_JSON)
def test_no_schema_and_no_content_raises(schema: Any, content: Any) -> None:
    assert all(isinstance(each, str) for each in problems(schema, content))
    assert all(field.title is not None for field in fields(schema))


@pytest.mark.parametrize(
    "own",
    [
        {"type": 7},
        {"type": "no-such-type"},
        {"minLength": "x"},
        {"pattern": "("},
        {"pattern": 3},
        {"enum": "x"},
        {"enum": []},
        {"oneOf": [1, None]},
        {"items": []},
        {"properties": []},
        {"minimum": None},
        {"$ref": "#/definitions/x", "if": {}, "contentEncoding": "base64"},
        None,
        "text",
    ],
)
def test_keywords_that_are_unknown_or_malformed_are_skipped(own: Any) -> None:
    assert _one(own, "x") == []


def test_deep_nesting_ends() -> None:
    schema: dict[str, Any] = {}
    value: Any = 1
    for _ in range(200):
        schema = {"type": "object", "properties": {"in": schema}}
        value = {"in": value}
    assert "nested too deeply" in problems(schema, value)[0]
