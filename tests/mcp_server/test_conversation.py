from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.mcp_server.conversation import (
    VERSIONS,
    McpConversation,
    ToolAnswer,
    ToolOffer,
)

_FIND = ToolOffer(name="find", title="Find", description="Finds.", input_schema={"type": "object"})


def _conversation() -> McpConversation:
    return McpConversation([_FIND], version="1.2", instructions="Ask.")


def _say(conversation: McpConversation, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    for message in messages:
        conversation.receive_line(json.dumps({"jsonrpc": "2.0", **message}).encode())
    return [json.loads(line) for line in conversation.lines_to_send()]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_known_revision_is_confirmed(version: str) -> None:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "c"}}
    [answer] = _say(_conversation(), {"id": 0, "method": "initialize", "params": params})

    assert answer["result"]["protocolVersion"] == version
    assert answer["result"]["capabilities"] == {"tools": {}}
    assert answer["result"]["serverInfo"]["version"] == "1.2"
    assert answer["result"]["instructions"] == "Ask."


def test_an_unknown_revision_is_answered_with_the_newest_known() -> None:
    params = {"protocolVersion": "2031-01-01"}
    [answer] = _say(_conversation(), {"id": 0, "method": "initialize", "params": params})

    assert answer["result"]["protocolVersion"] == VERSIONS[0]


def test_tools_are_listed_as_read_only() -> None:
    [answer] = _say(_conversation(), {"id": 1, "method": "tools/list"})

    [tool] = answer["result"]["tools"]
    assert (tool["name"], tool["inputSchema"]) == ("find", {"type": "object"})
    assert tool["annotations"]["readOnlyHint"] is True


def test_a_call_is_open_until_it_is_answered() -> None:
    conversation = _conversation()
    params = {"name": "find", "arguments": {"x": 1}, "_meta": {"threadId": "t"}}

    assert _say(conversation, {"id": 7, "method": "tools/call", "params": params}) == []
    [request] = conversation.requests()
    assert (request.name, request.arguments, request.meta) == ("find", {"x": 1}, {"threadId": "t"})
    assert conversation.requests() == []

    conversation.answer(request, ToolAnswer(text="no", structured={"a": 1}, is_error=True))
    [answer] = _say(conversation)
    assert answer["id"] == 7
    assert answer["result"] == {
        "content": [{"type": "text", "text": "no"}],
        "structuredContent": {"a": 1},
        "isError": True,
    }


def test_whatever_else_is_asked_is_refused_at_once() -> None:
    answers = _say(
        _conversation(),
        {"id": "a", "method": "resources/list"},
        {"id": "b", "method": "tools/call", "params": {"name": "drop"}},
        {"id": "c", "method": "tools/call"},
        {"id": "d", "method": "ping"},
        {"method": "notifications/cancelled", "params": {"requestId": "a"}},
    )

    assert [each["id"] for each in answers] == ["a", "b", "c", "d"]
    assert [each.get("error", {}).get("code") for each in answers] == [-32601, -32602, -32602, None]
    assert "known: find" in answers[1]["error"]["message"]


@given(st.binary(max_size=200))
def test_no_line_raises(line: bytes) -> None:
    conversation = _conversation()
    conversation.receive_line(line)
    for answer in conversation.lines_to_send():
        assert json.loads(answer)["jsonrpc"] == "2.0"
