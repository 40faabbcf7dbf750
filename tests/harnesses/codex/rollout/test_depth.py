"""Rows that are not checked for deep nesting hold nothing that could be nested."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from dragoman.harnesses.codex.rollout.decoding import decode_row
from dragoman.harnesses.codex.rollout.depth import OPEN_FIELDS, may_be_deep
from dragoman.harnesses.codex.rollout.parser import RolloutParser
from dragoman.model.messages import Malformed


def _is_bounded(kind: inspect.Type) -> bool:
    """Whether no value of this type can be nested more deeply than the type itself."""
    match kind:
        case inspect.UnionType():
            return all(map(_is_bounded, kind.types))
        case inspect.ListType():
            return _is_bounded(kind.item_type)
        case inspect.StructType():
            return all(_is_bounded(field.type) for field in kind.fields)
        case inspect.StrType() | inspect.IntType() | inspect.FloatType() | inspect.BoolType():
            return True
        case _:
            return isinstance(kind, inspect.NoneType)


@pytest.mark.parametrize("shape", OPEN_FIELDS, ids=lambda shape: shape.__name__)
def test_every_field_that_may_hold_anything_is_listed(shape: type[msgspec.Struct]) -> None:
    found = inspect.type_info(shape)
    assert isinstance(found, inspect.StructType)
    open_fields = {field.name for field in found.fields if not _is_bounded(field.type)}
    assert open_fields == set(OPEN_FIELDS[shape])


def _nested(depth: int) -> Any:
    value: Any = "x" * 300
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("response_item", {"type": "function_call_output", "call_id": "c", "output": _nested(140)}),
        ("response_item", {"type": "function_call", "call_id": "c", "name": "f", "arguments": _nested(140)}),
        ("event_msg", {"type": "item_completed", "item": {"type": "X", "id": "i", "result": _nested(140)}}),
        ("event_msg", {"type": "error", "message": "m", "codex_error_info": _nested(140)}),
    ],
)  # fmt: skip
def test_what_is_nested_too_deeply_is_malformed(name: str, payload: dict[str, Any]) -> None:
    row = {"timestamp": "2026-11-15T09:00:00.000Z", "type": name, "payload": payload}
    parser = RolloutParser()
    parser.receive_line(json.dumps(row).encode())
    parser.receive_eof()
    malformed = [each for each in parser.messages() if isinstance(each, Malformed)]
    assert [each.problem for each in malformed] == ["nested too deeply"]


def test_a_list_of_words_is_not_deep() -> None:
    item: dict[str, Any] = {
        "type": "CommandExecution",
        "id": "i",
        "command": ["bash", "-c"],
        "duration": {"secs": 1},
    }
    payload = {"type": "item_completed", "item": item}
    row = {"timestamp": "2026-11-15T09:00:00.000Z", "type": "event_msg", "payload": payload}
    assert not may_be_deep(decode_row(json.dumps(row).encode()))
    item["command"] = [["bash"]]
    assert may_be_deep(decode_row(json.dumps(row).encode()))
