"""TOML as a configuration file needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec


def to_toml(table: Mapping[str, Any]) -> str:
    """A TOML document: plain keys of a table first, then its tables."""
    return "".join(_lines(table, ()))


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {name: value for name, value in table.items() if not isinstance(value, Mapping)}
    tables = [name for name in table if name not in plain]
    lines: list[str] = []
    if path and (plain or not tables):
        lines.append(f"\n[{'.'.join(map(_key, path))}]\n")
    lines += [f"{_key(name)} = {_value(value)}\n" for name, value in plain.items()]
    for name in tables:
        lines += _lines(table[name], (*path, name))
    return lines


def _key(name: str) -> str:
    return (
        name
        if name.replace("_", "").replace("-", "").isalnum() and name.isascii()
        else _value(name)
    )


def _value(value: Any) -> str:
    """JSON's strings, numbers, booleans and lists are TOML's, too; a mapping in a list is not."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return "{" + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, cast("list[Any]", value))) + "]"
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
