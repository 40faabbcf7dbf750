"""The fields of a form, and typed words as their values."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.model.forms import FieldChoice, coerce, defaults, fields, problems

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2, "description": "In full."},
        "age": {"type": "integer", "minimum": 0, "default": 30},
        "rate": {"type": "number"},
        "sure": {"type": "boolean", "default": False},
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        "colour": {"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 1},
        "days": {"type": "array", "items": {"type": "integer"}},
        "mail": {"type": "string", "format": "email", "default": "not one"},
        "odd": {"type": "object"},
    },
    "required": ["name", "size"],
}
FIELDS = {field.name: field for field in fields(SCHEMA)}


def test_the_fields_of_a_schema_in_its_order() -> None:
    assert [(field.name, field.type) for field in fields(SCHEMA)] == [
        ("name", "string"),
        ("age", "integer"),
        ("rate", "number"),
        ("sure", "boolean"),
        ("size", "enum"),
        ("colour", "enum"),
        ("tags", "array"),
        ("days", "array"),
        ("mail", "string"),
        ("odd", "string"),
    ]
    assert [field.name for field in FIELDS.values() if field.required] == ["name", "size"]
    assert (FIELDS["name"].title, FIELDS["name"].description) == ("Your name", "In full.")
    assert FIELDS["age"].title == "age"
    assert FIELDS["size"].choices == [FieldChoice("s", "Small"), FieldChoice("l", "Large")]
    assert FIELDS["colour"].choices == [FieldChoice("#f00", "Red")]
    assert FIELDS["tags"].choices == [FieldChoice("a", "a"), FieldChoice("b", "b")]
    assert FIELDS["mail"].format == "email"


def test_a_default_is_proposed_if_it_fits() -> None:
    assert defaults(SCHEMA) == {"age": 30, "sure": False}


@pytest.mark.parametrize("schema", [None, [], "x", {}, {"properties": 3}, {"required": "name"}])
def test_what_is_no_schema_has_no_fields(schema: Any) -> None:
    assert fields(schema) == []
    assert problems(schema, {}) == []


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("name", " Ada ", " Ada "),
        ("age", " 42 ", 42),
        ("age", "42.0", 42),
        ("rate", "1e3", 1000.0),
        ("rate", "7", 7),
        ("sure", "Yes", True),
        ("sure", "n", False),
        ("size", "l", "l"),
        ("size", "large", "l"),
        ("size", "1", "s"),
        ("colour", "Red", "#f00"),
        ("tags", "b", ["b"]),
        ("tags", "", []),
        ("days", "1, 2", [1, 2]),
        ("mail", "a@b.c", "a@b.c"),
    ],
)
def test_what_is_typed_becomes_a_value(name: str, text: str, value: Any) -> None:
    assert coerce(FIELDS[name], text) == value


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("name", "A", "name must have at least 2 characters"),
        ("age", "x", 'age must be a whole number, not "x"'),
        ("age", "1.5", 'age must be a whole number, not "1.5"'),
        ("age", "-1", "age must be at least 0"),
        ("age", "9" * 5000, "age must be a whole number"),
        ("rate", "nan", 'rate must be a number, not "nan"'),
        ("sure", "maybe", 'sure must be yes or no, not "maybe"'),
        ("size", "xl", 'size must be one of s, l, not "xl"'),
        ("size", "3", 'size must be one of s, l, not "3"'),
        ("tags", "a, b", "tags must have at most 1 item"),
        ("tags", "c", 'tags must be one of a, b, not "c"'),
        ("mail", "x", "mail must be an email address"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(name: str, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        coerce(FIELDS[name], text)
