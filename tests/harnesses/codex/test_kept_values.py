"""Values that no release is known to send where they stand here, and that are kept all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.model.messages import Message, Notice, ToolResult, TurnEnded

BEGUN = ({"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"})
ENDED = {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}


def told(*lines: dict[str, Any]) -> list[Message]:
    return list(dragoman.read(b"\n".join(json.dumps(line).encode() for line in lines)))


def results(*lines: dict[str, Any]) -> list[str]:
    return [each.output for each in told(*lines) if isinstance(each, ToolResult)]


@pytest.mark.parametrize("more", [{}, {"details": "the proxy"}], ids=["alone", "with details"])
def test_an_error_keeps_what_it_says_under_other_keys(more: dict[str, Any]) -> None:
    error = {"type": "error", "message": "boom", "code": 17, "info": {"at": "gate"}, **more}

    messages = told(*BEGUN, error, {"type": "turn.failed", "error": {"message": "boom"}})

    notice = next(each for each in messages if isinstance(each, Notice))
    sentence, _, rest = notice.text.partition("\n")
    assert sentence == "boom"
    assert json.loads(rest) == {"code": 17, "info": {"at": "gate"}, **more}
    ended = messages[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "failed"


def _mcp(kind: str, **more: Any) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": "i",
        "type": "mcp_tool_call",
        "server": "s",
        "tool": "x",
        "arguments": {},
    }
    return {"type": kind, "item": {**item, "status": "in_progress", **more}}


HALF = {"content": [{"type": "text", "text": "half"}]}
WHOLE = {"content": [{"type": "text", "text": "half and whole"}]}


@pytest.mark.parametrize("kind", ["item.started", "item.updated"])
@pytest.mark.parametrize("more", [{"result": HALF}, {"error": {"message": "half"}}])
def test_what_an_mcp_call_answered_is_kept_without_its_end(kind: str, more: dict[str, Any]) -> None:
    assert results(*BEGUN, _mcp(kind, **more), ENDED) == ["half"]


def test_what_an_mcp_call_answered_is_told_once_with_its_end() -> None:
    end = _mcp("item.completed", result=WHOLE, status="completed")

    assert results(*BEGUN, _mcp("item.updated", result=HALF), end, ENDED) == ["half and whole"]


FOUND = [{"url": "https://example.org", "title": "An example"}]


def test_what_a_search_found_is_its_output() -> None:
    events: list[dict[str, Any]] = [
        {"type": "task_started"},
        {"type": "web_search_begin", "call_id": "w"},
        {"type": "web_search_end", "call_id": "w", "query": "q", "results": FOUND},
    ]

    (output,) = results(*[{"id": "1", "msg": event} for event in events])
    assert json.loads(output) == FOUND


def test_what_a_search_found_is_the_output_of_its_item() -> None:
    item = {"id": "w", "type": "web_search", "query": "q", "results": FOUND}

    (output,) = results(*BEGUN, {"type": "item.completed", "item": item}, ENDED)
    assert json.loads(output) == FOUND
