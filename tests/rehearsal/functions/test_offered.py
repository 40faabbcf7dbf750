from __future__ import annotations

from typing import Any

import pytest

from dragoman.rehearsal.functions.offered import offered_functions, smallest
from rehearsal.functions.declared import GEMINI, as_chat, as_gemini


def test_both_forms_of_a_declaration_are_read() -> None:
    assert offered_functions(as_chat(GEMINI)) == offered_functions(as_gemini(GEMINI))
    json_schema: dict[str, Any] = {"name": "a", "parametersJsonSchema": {"properties": {"x": {}}}}
    assert [*offered_functions(as_gemini([json_schema]))[0].properties] == ["x"]
    assert offered_functions([{"googleSearch": {}}, 7]) == offered_functions(None) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}, "required": ["a"]}, {"a": 0}),
        ({"type": ["string", "null"]}, "x"),
        ({"enum": ["b", "c"]}, "b"),
        ({"type": "array"}, []),
        ({"type": "boolean"}, False),
        ({}, "x"),
    ],
)
def test_the_smallest_value_fits_its_schema(schema: dict[str, Any], value: Any) -> None:
    assert smallest(schema, "x") == value


def test_what_a_function_needs_is_filled_in() -> None:
    schema = {
        "properties": {"kind": {"enum": ["a", "b"]}, "path": {"type": "string"}, "n": {}},
        "required": ["kind", "path"],
    }
    (function,) = offered_functions(as_chat([{"name": "f", "parameters": schema}]))
    assert function.arguments({"path": "/x", "odd": 1}) == {"path": "/x", "kind": "a"}
