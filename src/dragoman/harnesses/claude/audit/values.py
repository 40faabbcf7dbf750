"""The values on a line, and the forms in which a message may hold each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dragoman.harnesses.claude.audit.omissions import is_unsaid, reason
from dragoman.harnesses.claude.blocks import is_interruption
from dragoman.harnesses.claude.failures import UNNAMED
from dragoman.harnesses.claude.session import SYNTHETIC
from dragoman.harnesses.claude.tools import output_text
from dragoman.harnesses.claude.values import command_line, local_output
from dragoman.harnesses.contract.reading import Value
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str

_TEXTS: Final = frozenset(("text", "content", "thinking", "prompt", "local_command_source"))
_DIAGNOSIS: Final = "[ede_diagnostic]"
"""How a note begins that the program writes for its own developers."""
_ENVELOPE: Final = frozenset(("dir", "t", "type"))


def values(line: bytes, rule: str = "") -> Iterator[Value]:
    """The values on this line that some message has to hold, each with its place on the line.

    ``rule`` says why the line has made no message of its own.
    """
    if is_unsaid(rule):
        return
    given = _unwrapped(line)
    name = _name(given)
    for key, value in given.items():
        if key not in _ENVELOPE:
            yield from _inside(f"{name}.{key}{_mark(given, key)}", key, value)


def _mark(line: dict[str, Any], key: str) -> str:
    """What tells the two sides of an attachment apart: its parts, and the text made from them."""
    attachment = as_dict(line.get("attachment"))
    kind = as_str(attachment.get("type"))
    if key == "attachment" and line.get("rendered") and kind != "queued_command":
        return "(rendered)"
    return f"({kind})" if key == "rendered" and kind == "queued_command" else ""


def _unwrapped(line: bytes) -> dict[str, Any]:
    try:
        given = as_dict(jsonl.loads(line))
        if "dir" not in given:
            return given
        inner = given.get("msg", given.get("raw"))
        return as_dict(jsonl.loads(inner.encode()) if isinstance(inner, str) else inner)
    except jsonl.NotJson:
        return {}


def _name(line: dict[str, Any]) -> str:
    """What the line is called."""
    kind = as_str(line.get("type")) or "line"
    subtype = as_str(line.get("subtype"))
    if kind == "system" and subtype is not None:
        return f"{kind}/{subtype}"
    event = as_str(as_dict(line.get("event")).get("type"))
    return f"{kind}/{event}" if event is not None else kind


def _inside(place: str, key: str, value: Any) -> Iterator[Value]:
    """The values in a value, as deep as they are nested."""
    if value is None or value in ("", [], {}, SYNTHETIC) or isinstance(value, bool):
        return
    if key == "error" and value == UNNAMED:
        return  # it says that there is no word for the error
    if isinstance(value, str):
        if is_interruption(value):
            place = f"{place}(interrupted)"
        elif value.startswith(_DIAGNOSIS):
            place = f"{place}(diagnosis)"
    if reason(place):
        return
    if isinstance(value, dict):
        for inner_key, inner in as_dict(value).items():
            yield from _inside(f"{place}.{inner_key}", inner_key, inner)
    elif isinstance(value, list):
        for inner in as_list(value):
            yield from _inside(f"{place}[]", key, inner)
    else:
        yield Value(place, value, _forms(key, value))


def _forms(key: str, value: Any) -> list[list[Any]]:
    """The ways in which a value may be emitted."""
    if key == "result" and isinstance(value, str) and value.startswith("{"):
        return [[value], _leaves(value)]
    if key not in _TEXTS or not isinstance(value, str):
        return [[value]]
    shorter = (local_output(value), command_line(value), output_text(value))
    return [[value], *([each] for each in shorter if each)]


def _leaves(text: str) -> list[Any]:
    """What is in the JSON that an answer spells; the call that gave it has its parts."""

    def inside(value: Any) -> Iterator[Any]:
        if isinstance(value, dict | list):
            for inner in as_dict(value).values() if isinstance(value, dict) else as_list(value):
                yield from inside(inner)
        else:
            yield value

    try:
        return list(inside(jsonl.loads(text.encode())))
    except jsonl.NotJson:
        return [text]
