"""Validate the content of a form against its schema.

Unknown and malformed keywords are skipped. Problems do not repeat the value, because it may be a secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final, cast
from urllib.parse import urlsplit

import msgspec

from dragoman.model.forms.patterns import matches
from dragoman.model.forms.values import as_dict, as_list, choices_of, offered, same, shown, types_of

_DEEPEST: Final = 20
_EMAIL: Final = re.compile(r"[^@\s]{1,64}@[^@\s.]+(?:\.[^@\s.]+)*")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)


def problems(schema: Any, content: Any) -> list[str]:
    """Return the problems, each a sentence that names the field; empty if the content is valid."""
    if not isinstance(content, dict):
        return ["the content of a form must be an object with a value for each field"]
    return value_problems(as_dict(schema) | {"type": "object"}, cast("Any", content), "")


def value_problems(own: dict[str, Any], value: Any, name: str, depth: int = 0) -> list[str]:
    if depth > _DEEPEST:
        return [f"{name or 'the content'} is nested too deeply"]
    types = [kind for kind in types_of(own) if kind in _IS]
    if types and not any(_IS[kind](value) for kind in types):
        expected = " or ".join(_NAMES[kind] for kind in types)
        return [f"{name or 'the content'} must be {expected}"]
    choices = choices_of(own)
    if choices and not any(same(choice.value, value) for choice in choices):
        return [f"{name} must be one of {offered(choices)}"]
    if "const" in own and not same(own["const"], value):
        return [f"{name} must be {shown(own['const'])}"]
    if isinstance(value, str):
        return _text_problems(own, value, name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_problems(own, value, name)
    if isinstance(value, list):
        return _list_problems(own, as_list(cast("Any", value)), name, depth)
    if isinstance(value, dict):
        return _object_problems(own, as_dict(cast("Any", value)), name, depth)
    return []


def _text_problems(own: dict[str, Any], value: str, name: str) -> list[str]:
    found: list[str] = []
    least, most = _count(own.get("minLength")), _count(own.get("maxLength"))
    if least is not None and len(value) < least:
        found.append(f"{name} must have at least {_many(least, 'character')}")
    if most is not None and len(value) > most:
        found.append(f"{name} must have at most {_many(most, 'character')}")
    pattern = own.get("pattern")
    if isinstance(pattern, str) and matches(pattern, value) is False:
        found.append(f"{name} must match the pattern {pattern}")
    form = own.get("format")
    if isinstance(form, str) and form in _FORMATS and not _FORMATS[form][0](value):
        found.append(f"{name} must be {_FORMATS[form][1]}")
    return found


def _number_problems(own: dict[str, Any], value: float, name: str) -> list[str]:
    tests: tuple[tuple[str, Callable[[float, float], bool], str], ...] = (
        ("minimum", lambda bound, given: given >= bound, "at least"),
        ("maximum", lambda bound, given: given <= bound, "at most"),
        ("exclusiveMinimum", lambda bound, given: given > bound, "more than"),
        ("exclusiveMaximum", lambda bound, given: given < bound, "less than"),
    )
    found: list[str] = []
    for word, fits, words in tests:
        bound: Any = own.get(word)
        if _IS["number"](bound) and not fits(bound, value):
            found.append(f"{name} must be {words} {shown(bound)}")
    return found


def _list_problems(own: dict[str, Any], value: list[Any], name: str, depth: int) -> list[str]:
    found: list[str] = []
    least, most = _count(own.get("minItems")), _count(own.get("maxItems"))
    if least is not None and len(value) < least:
        found.append(f"{name} must have at least {_many(least, 'item')}")
    if most is not None and len(value) > most:
        found.append(f"{name} must have at most {_many(most, 'item')}")
    if own.get("uniqueItems") is True:
        encoded = [msgspec.json.encode(item) for item in value]
        if len(set(encoded)) < len(encoded):
            found.append(f"{name} must not have the same item twice")
    items = as_dict(own.get("items"))
    for item in value:
        found += [
            each for each in value_problems(items, item, name, depth + 1) if each not in found
        ]
    return found


def _object_problems(
    own: dict[str, Any], value: dict[str, Any], name: str, depth: int
) -> list[str]:
    properties = as_dict(own.get("properties"))
    found = [
        f"{_inside(name, each)} is required"
        for each in as_list(own.get("required"))
        if isinstance(each, str) and each not in value
    ]
    for each, inner in value.items():
        if each in properties:
            found += value_problems(
                as_dict(properties[each]), inner, _inside(name, each), depth + 1
            )
        elif own.get("additionalProperties") is False:
            found.append(f"the form has no field {_inside(name, each)}")
    return found


def _inside(name: str, inner: str) -> str:
    return f"{name}.{inner}" if name else inner


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not isinstance(value, float) or math.isfinite(value)


_IS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
_NAMES: Final[Mapping[str, str]] = {
    "string": "a text",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _is_uri(value: str) -> bool:
    if any(char.isspace() or char in '<>"{}|\\^`' for char in value):
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path))


def _is_date(value: str) -> bool:
    if not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_date_time(value: str) -> bool:
    found = _DATE_TIME.fullmatch(value)
    return found is not None and _is_date(found[1])


_FORMATS: Final[dict[str, tuple[Callable[[str], bool], str]]] = {
    "email": (lambda value: _EMAIL.fullmatch(value) is not None, "an email address"),
    "uri": (_is_uri, "an address such as https://example.com"),
    "date": (_is_date, "a date such as 2026-11-18"),
    "date-time": (_is_date_time, "a date and time such as 2026-11-18T13:00:00Z"),
}


def _count(value: Any) -> int | None:
    return int(value) if _IS["integer"](value) else None


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
