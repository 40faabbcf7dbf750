"""Read values of unknown type from a schema, its choices, and values as text for people."""

from __future__ import annotations

from typing import Any, cast

import msgspec


class FieldChoice(msgspec.Struct, frozen=True):
    """One choice."""

    value: Any
    title: str
    """A title for people; the value if the schema has none."""


def choices_of(own: dict[str, Any]) -> list[FieldChoice]:
    """The choices: ``enum`` with ``enumNames``, or ``oneOf`` and ``anyOf`` of constants."""
    values = own.get("enum")
    if isinstance(values, list):
        names = as_list(own.get("enumNames"))
        titles = [as_text(name) for name in names] if len(names) == len(as_list(values)) else []
        pairs = zip(as_list(values), titles or [""] * len(as_list(values)), strict=True)
        return [FieldChoice(value, title or plain(value)) for value, title in pairs]
    for word in ("oneOf", "anyOf"):
        options = [as_dict(option) for option in as_list(own.get(word))]
        if options and all("const" in option for option in options):
            return [
                FieldChoice(option["const"], as_text(option.get("title")) or plain(option["const"]))
                for option in options
            ]
    return []


def types_of(own: dict[str, Any]) -> list[str]:
    named = own.get("type")
    return [
        kind
        for kind in ([named] if isinstance(named, str) else as_list(named))
        if isinstance(kind, str)
    ]


def as_dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def same(one: Any, other: Any) -> bool:
    """Equal in JSON: 1 and 1.0 are, 1 and true are not."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def offered(choices: list[FieldChoice]) -> str:
    values = [plain(choice.value) for choice in choices[:10]]
    return ", ".join(values) + (" …" if len(choices) > 10 else "")


def plain(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)


def shown(value: Any) -> str:
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= 60 else f"{text[:59]}…"
