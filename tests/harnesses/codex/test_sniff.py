from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.codex.sniff import is_rollout_header, sniff


@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        ("codex-exec", {"type": "thread.started", "thread_id": "t"}),
        ("codex-exec", {"type": "turn.started"}),
        ("codex-exec", {"type": "item.completed", "item": {"type": "agent_message"}}),
        ("codex-exec", {"type": "error", "message": "no such model"}),
        ("codex-exec-experimental", {"type": "session.created", "session_id": "s"}),
        ("codex-exec-experimental", {"type": "item.completed", "item": {"item_type": "x"}}),
        ("codex-responses", {"type": "session.created", "id": "s", "model": "m"}),
        ("codex-responses", {"type": "message.output_text.delta", "delta": "x"}),
        ("codex-responses", {"type": "response.created", "response": {}}),
        ("codex-responses", {"type": "error", "message": "x", "sequence_number": 3}),
        ("codex-exec-old", {"workdir": "/w", "model": "m", "provider": "p"}),
        ("codex-exec-old", {"id": "1", "msg": {"type": "task_started"}}),
        ("codex-proto", {"id": "0", "msg": {"type": "session_configured"}}),
        ("codex-proto", {"id": "1", "op": {"type": "user_input"}}),
        (
            "codex-mcp-server",
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "codex"}},
        ),
        ("codex-mcp-server", {"method": "codex/event", "params": {}}),
        ("codex-app-server-v1", {"id": 1, "method": "newConversation"}),
        ("codex-app-server-v1", {"id": 1, "result": {"conversationId": "c"}}),
        ("codex-app-server", {"method": "turn/started", "params": {}}),
        ("codex-app-server", {"id": 1, "result": {"thread": {}}}),
        ("codex-rollout", {"timestamp": "t", "type": "session_meta", "payload": {}}),
        ("codex-rollout", {"timestamp": "t", "ordinal": 7, "type": "token_usage_record"}),
        ("codex-rollout-flat", {"id": "u", "timestamp": "t", "instructions": None}),
        ("codex-rollout-flat", {"record_type": "state"}),
        ("codex-rollout-flat", {"type": "function_call", "name": "shell"}),
        (None, {"id": 0, "method": "initialize"}),
        (None, {"hello": "world"}),
        (None, [1, 2]),
    ],
)
def test_one_line_is_enough_if_it_is_decisive(dialect: str | None, line: Any) -> None:
    assert sniff([json.dumps(line).encode()]) == dialect
    assert sniff([b"noise\n", b"\n", json.dumps(line).encode()]) == dialect


def test_a_recordings_wrapper_does_not_matter() -> None:
    line: dict[str, Any] = {
        "dir": "recv",
        "t": 0.1,
        "msg": {"method": "thread/started", "params": {}},
    }
    assert sniff([json.dumps(line).encode()]) == "codex-app-server"


def test_server_sent_events_are_known_by_their_first_line() -> None:
    assert sniff([b"event: response.created\n"]) == "codex-responses"
    assert sniff([b'data: {"type":"response.created"}\n']) == "codex-responses"


def test_legacy_events_alone_do_not_decide_between_the_two_app_servers() -> None:
    event = b'{"method":"codex/event/task_started","params":{"msg":{"type":"task_started"}}}'
    assert sniff([event]) is None
    assert sniff([event, b'{"method":"turn/started","params":{}}']) == "codex-app-server"
    assert sniff([event] * 4) == "codex-app-server-v1"


@pytest.mark.parametrize(
    "line",
    [
        {"type": "message", "timestamp": "t", "role": "user", "content": "hello"},
        {"type": "error", "timestamp": "t", "severity": "warning", "message": "x"},
        {"type": "session.created", "properties": {"info": {}}},
        {"type": "message.part.updated", "properties": {}},
        {"type": "turn.started", "data": {}, "id": "x", "timestamp": "t"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search"}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"id": "x", "timestamp": "t", "role": "user"},
        {"type": "compacted", "at": 3},
        {"op": "add", "path": "/a"},
    ],
)
def test_lines_of_other_programs_are_not_claimed(line: dict[str, Any]) -> None:
    assert sniff([json.dumps(line).encode()]) is None


def test_the_first_row_of_a_rollout_is_recognized_without_decoding_it() -> None:
    header = {"type": "session_meta", "payload": {"id": "s", "base_instructions": {"text": "x"}}}
    line = (
        b'{"timestamp":"2026-11-15T09:00:00.000Z",'
        + json.dumps(header, separators=(",", ":")).encode()[1:]
    )
    assert is_rollout_header(line)
    assert is_rollout_header(line + b"\n")
    assert not is_rollout_header(line[:-4])  # truncated
    assert not is_rollout_header(line.replace(b"session_meta", b"compacted"))
    assert sniff([line]) == "codex-rollout"
