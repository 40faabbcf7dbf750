"""The fields of a form, and conversion of typed text to their values."""

from __future__ import annotations

import math
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from dragoman.model.forms.checking import value_problems
from dragoman.model.forms.values import (
    FieldChoice,
    as_dict,
    as_list,
    as_text,
    choices_of,
    offered,
    plain,
    shown,
    types_of,
)

FieldType: TypeAlias = Literal["string", "integer", "number", "boolean", "enum", "array"]

_TRUE: Final = frozenset(("true", "yes", "y", "on", "1"))
_FALSE: Final = frozenset(("false", "no", "n", "off", "0"))


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a form."""

    name: str
    title: str
    """A title for people; the name if the schema has none."""
    type: FieldType
    """``enum``: one of the choices. ``array``: a list, of the choices if there are any."""
    required: bool = False
    default: Any = None
    choices: list[FieldChoice] = []
    description: str = ""
    format: str | None = None
    """For strings: ``email``, ``uri``, ``date`` or ``date-time``."""
    schema: dict[str, Any] = {}
    """The field's own part of the schema."""


def fields(schema: Any) -> list[Field]:
    """The fields in the order of the schema."""
    required = [name for name in as_list(as_dict(schema).get("required")) if isinstance(name, str)]
    properties = as_dict(as_dict(schema).get("properties"))
    return [_field(name, as_dict(own), name in required) for name, own in properties.items()]


def coerce(field: Field, text: str) -> Any:
    """Convert typed text to a value of the field. Raises ``ValueError`` with a sentence."""
    value = _typed(field, text)
    wrong = value_problems(field.schema, value, field.name)
    if wrong:
        raise ValueError(wrong[0])
    return value


def defaults(schema: Any) -> dict[str, Any]:
    """The default values of the schema that are valid."""
    proposed = {field.name: field.default for field in fields(schema) if field.default is not None}
    properties = as_dict(as_dict(schema).get("properties"))
    return {
        name: value
        for name, value in proposed.items()
        if not value_problems(as_dict(properties[name]), value, name)
    }


# Fields.


def _field(name: str, own: dict[str, Any], required: bool) -> Field:
    kind = _kind(own)
    choices = choices_of(as_dict(own.get("items")) if kind == "array" else own)
    return Field(
        name=name,
        title=as_text(own.get("title")) or name,
        type="enum" if choices and kind != "array" else kind,
        required=required,
        default=own.get("default"),
        choices=choices,
        description=as_text(own.get("description")),
        format=as_text(own.get("format")) or None,
        schema=own,
    )


def _kind(own: dict[str, Any]) -> FieldType:
    for kind in types_of(own):
        if kind in ("string", "integer", "number", "boolean", "array"):
            return cast("FieldType", kind)
    return "string"


# Typed text.


def _typed(field: Field, text: str) -> Any:
    if field.type == "enum":
        return _chosen(field, text)
    if field.type == "array":
        words = [word.strip() for word in text.split(",") if word.strip()]
        if field.choices:
            return [_chosen(field, word) for word in words]
        items = _field(field.name, as_dict(field.schema.get("items")), required=True)
        return [_typed(items, word) for word in words] if items.type != "array" else words
    word = text.strip()
    if field.type == "boolean":
        if word.lower() in _TRUE | _FALSE:
            return word.lower() in _TRUE
        raise ValueError(f"{field.name} must be yes or no, not {shown(word)}")
    if field.type in ("integer", "number"):
        return _number(field, word)
    return text


def _number(field: Field, word: str) -> int | float:
    try:
        return int(word)
    except ValueError:
        kind = "a whole number" if field.type == "integer" else "a number"
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"{field.name} must be {kind}, not {shown(word)}") from None
    if not math.isfinite(value) or (field.type == "integer" and not value.is_integer()):
        raise ValueError(f"{field.name} must be {kind}, not {shown(word)}")
    return int(value) if field.type == "integer" else value


def _chosen(field: Field, text: str) -> Any:
    """Find a choice by its value, its title, or its position from 1."""
    word = text.strip()
    for choice in field.choices:
        if text == choice.value or word == plain(choice.value):
            return choice.value
    for choice in field.choices:
        if word.lower() in (choice.title.lower(), plain(choice.value).lower()):
            return choice.value
    places = {str(place): choice for place, choice in enumerate(field.choices, 1)}
    if word in places:
        return places[word].value
    raise ValueError(f"{field.name} must be one of {offered(field.choices)}, not {shown(word)}")
