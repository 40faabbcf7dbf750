from __future__ import annotations

import enum
import functools
from typing import Annotated, Any, Literal

import msgspec
import pytest

from dragoman.drive.tools.schemas import BadTool, Parameters, parameters_of, plain_schema


class _Point(msgspec.Struct):
    x: int
    y: int = 0


class _Tree(msgspec.Struct):
    name: str
    children: list[_Tree] = []


class _Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def _find(
    query: Annotated[str, "what to look for"],
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10,
    kind: Literal["bug", "task"] | None = None,
    near: _Point | None = None,
    *,
    colours: list[_Colour] = [_Colour.RED],  # noqa: B006
) -> str:
    return query


def _of(function: Any) -> Parameters:
    return parameters_of("f", function)


def test_annotations_become_a_schema_that_stands_by_itself() -> None:
    assert _of(_find).schema == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "what to look for"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "kind": {
                "anyOf": [{"enum": ["bug", "task"]}, {"type": "null"}],
                "default": None,
            },
            "near": {
                "anyOf": [
                    {
                        "title": "_Point",
                        "type": "object",
                        "properties": {
                            "x": {"type": "integer"},
                            "y": {"type": "integer", "default": 0},
                        },
                        "required": ["x"],
                    },
                    {"type": "null"},
                ],
                "default": None,
            },
            "colours": {
                "type": "array",
                "items": {"title": "_Colour", "enum": ["blue", "red"]},
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def nothing() -> None: ...

    assert _of(nothing).schema == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    assert _of(nothing).read({}) == (([], {}), None)


def test_a_definition_that_contains_itself_comes_to_an_end() -> None:
    def plant(tree: _Tree) -> None: ...

    tree = _of(plant).schema["properties"]["tree"]

    assert tree["properties"]["children"]["items"] == {"type": "object"}
    assert "$ref" not in str(tree)


def test_what_stands_beside_a_reference_is_kept() -> None:
    schema = {"$ref": "#/$defs/A", "description": "d", "$defs": {"A": {"type": "string"}}}

    assert plain_schema(schema) == {"type": "string", "description": "d"}


def test_arguments_are_given_their_types_and_defaults_are_left_to_the_function() -> None:
    given = {"query": "x", "near": {"x": 1}, "colours": ["blue"]}

    assert _of(_find).read(given) == (
        ([], {"query": "x", "near": _Point(1), "colours": [_Colour.BLUE]}),
        None,
    )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "Object missing required field `query`"),
        ({"query": 1}, "Expected `str`, got `int` - at `$.query`"),
        ({"query": "x", "limit": 99}, "Expected `int` <= 50 - at `$.limit`"),
        ({"query": "x", "limmit": 1}, "Object contains unknown field `limmit`"),
        ([], "Expected `object`, got `array`"),
        (None, "Expected `object`, got `null`"),
    ],
)
def test_wrong_arguments_are_told_not_raised(given: Any, problem: str) -> None:
    assert _of(_find).read(given)[1] == problem


def test_parameters_that_have_no_name_to_the_outside_are_given_by_place() -> None:
    def add(a: int, b: int = 1, /, c: int = 2) -> int:
        return a + b + c

    parameters = _of(add)

    assert parameters.read({"a": 1, "b": 5, "c": 6}) == (([1, 5], {"c": 6}), None)
    assert parameters.read({"a": 1, "c": 6}) == (([1], {"c": 6}), None)


def test_methods_partials_and_objects_will_do() -> None:
    class Tracker:
        def get(self, number: int) -> str:
            return str(number)

        def __call__(self, number: int) -> str:
            return str(number)

    for function in (Tracker().get, Tracker(), functools.partial(Tracker().get)):
        assert list(_of(function).schema["properties"]) == ["number"]
    assert _of(functools.partial(_find, "x", limit=3)).schema["required"] == []


def _untyped(x) -> None: ...  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]


def _starred(*x: int) -> None: ...


def _unreadable(x: Nowhere) -> None: ...  # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]  # noqa: F821


def _not_json(x: type[int]) -> None: ...


def _gap(a: int = 1, b: int = 2, /) -> None: ...


_REFUSED: list[tuple[Any, str]] = [
    (_untyped, "f cannot be a tool: its parameter 'x' has no type"),
    (_starred, "f cannot be a tool: *x takes anything; name each parameter"),
    (_unreadable, "f cannot be a tool: its annotations cannot be read: name 'Nowhere' is not"),
    (_not_json, "f cannot be a tool: its parameters have no JSON schema (TypeError: "),
]


@pytest.mark.parametrize(("function", "sentence"), _REFUSED)
def test_a_function_that_cannot_be_described_is_refused(function: Any, sentence: str) -> None:
    with pytest.raises(BadTool) as caught:
        _of(function)
    assert str(caught.value).startswith(sentence)


def test_an_unnamed_parameter_cannot_be_given_over_one_that_is_left_out() -> None:
    assert _of(_gap).read({"b": 5})[1] == "`b` needs `a` to be given as well"
