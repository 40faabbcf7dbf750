"""The audit cannot lie: what a duplicate says is in some message, or at a place that is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.harnesses.codex.audit.values import values
from dragoman.reading.audit import audit

_DATA = Path(__file__).parents[3] / "data" / "codex"
_STREAMS = sorted(path for path in _DATA.rglob("*.jsonl") if path.name != "messages.jsonl")


def places(line: dict[str, Any]) -> dict[str, Any]:
    return {value.place: value.value for value in values(json.dumps(line).encode())}


@pytest.mark.parametrize("path", _STREAMS, ids=lambda path: str(path.relative_to(_DATA)))
def test_every_value_of_a_twin_is_in_some_message(path: Path) -> None:
    account = audit(path)
    assert account.lost == []
    assert account.unread == []


def test_the_values_of_a_line_are_named_by_their_place() -> None:
    line = {"dir": "recv", "t": 1.5, "msg": {"method": "codex/event/x", "params": {
        "conversationId": "c", "msg": {"type": "exec_command_begin", "call_id": "1", "command": ["bash", "-lc", "ls"],
                                       "note": {"deep": ["a", 7]}}}}}  # fmt: skip
    assert places(line) == {
        "event/exec_command_begin.command": ["bash", "-lc", "ls"],
        "event/exec_command_begin.note.deep[]": 7,
    }


@pytest.mark.parametrize(
    "line",
    [
        {"type": "item.updated", "item": {"type": "agent_message", "text": "words"}},
        {"method": "turn/start", "params": {"input": [{"type": "text", "text": "words"}]}},
        {"type": "event_msg", "payload": {"type": "web_search_begin", "query": "words"}},
        {"method": "error", "params": {"error": {"message": "m", "additionalDetails": "words"}}},
        {"id": 1, "error": {"code": -1, "message": "words"}},
        {"msg": {"type": "error", "message": "words"}, "id": "1"},
        {
            "method": "item/created",
            "params": {"item": {"type": "plan", "steps": [{"step": "words"}]}},
        },
        {"type": "response_item", "payload": {"type": "message", "content": [{"text": "words"}]}},
    ],
    ids=str,
)
def test_words_have_to_be_told_wherever_they_are(line: dict[str, Any]) -> None:
    assert "words" in places(line).values()


def test_a_value_that_is_told_nowhere_is_lost() -> None:
    item = {"id": "i1", "type": "command_execution", "command": "ls", "status": "in_progress"}
    lines = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.started", "item": item},
        {"type": "item.started", "item": {**item, "surprise": "a new thing"}},
    ]
    account = audit(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    [lost] = account.lost
    assert (lost.line, lost.reason) == (4, "tool call: emitted before")
    assert (lost.place, lost.value) == (
        "item.started.item(command_execution).surprise",
        "a new thing",
    )
    assert not account.is_whole


def test_a_value_of_an_odd_shape_is_looked_at_piece_by_piece() -> None:
    line = b'{"msg":{"type":"exec_command_output_delta","chunk":["x"]}}'

    assert [(each.place, each.value) for each in values(line)] == [
        ("event/exec_command_output_delta.chunk[]", "x")
    ]
