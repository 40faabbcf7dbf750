"""Response items: what the model was sent and what it sent back, as files and streams have them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import (
    Context,
    Delta,
    Malformed,
    Message,
    Notice,
    Plan,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    Unknown,
    Usage,
    UsageReport,
)
from dragoman.harnesses.codex.events.shape import tagged
from dragoman.harnesses.codex.responses.items import TELL
from dragoman.harnesses.codex.responses.shapes import ResponseItem


def told(*lines: dict[str, Any] | str, dialect: str = "codex-responses") -> list[Message]:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return list(dragoman.read(texts, dialect=dialect))


def row(**item: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": item}


_META = {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta",
         "payload": {"id": "s", "cwd": "/w", "cli_version": "0.120.0"}}  # fmt: skip


def in_rollout(*items: dict[str, Any]) -> list[Message]:
    return told(_META, *(row(**item) for item in items), dialect="codex-rollout")


def test_every_shape_of_response_item_has_somebody_who_tells_it() -> None:
    assert {shape.__name__ for shape in tagged(ResponseItem)} == {
        shape.__name__ for shape in TELL if issubclass(shape, ResponseItem)
    }


# Calls and outputs.


@pytest.mark.parametrize(
    ("call", "tool", "input"),
    [
        ({"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls", "-l"]}},
         "Bash", {"command": "ls -l"}),
        ({"type": "local_shell_call", "call_id": "c", "action": {"command": ["apply_patch",
          "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch"], "working_directory": "/w/sub"}},
         "Write", {"changes": [{"path": "/w/sub/a", "kind": "add", "diff": "b\n"}],
          "file_path": "/w/sub/a", "content": "b\n"}),
        ({"type": "tool_search_call", "call_id": "c", "arguments": {"query": "db"}},
         "ToolSearch", {"query": "db"}),
        ({"type": "custom_tool_call", "call_id": "c", "name": "poet", "input": "a rose"},
         "poet", {"input": "a rose"}),
        ({"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{broken"},
         "Bash", {"raw": "{broken"}),
        ({"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "[1]"},
         "Bash", {"raw": "[1]"}),
        ({"type": "function_call", "call_id": "c", "name": "lookup", "arguments": "not json"},
         "lookup", {"raw": "not json"}),
    ],
)  # fmt: skip
def test_a_call_whatever_its_arguments(
    call: dict[str, Any], tool: str, input: dict[str, Any]
) -> None:
    made = next(each for each in in_rollout(call) if isinstance(each, ToolCall))
    assert (made.tool, made.input) == (tool, input)


def test_a_command_that_keeps_running_ends_with_the_call_that_saw_its_end() -> None:
    messages = in_rollout(
        {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": '{"cmd":"cat"}'},
        {"type": "function_call_output", "call_id": "c1",
         "output": "Chunk ID: a\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\none\n"},
        {"type": "function_call", "call_id": "c2", "name": "write_stdin",
         "arguments": '{"session_id":7,"chars":"x"}'},
        {"type": "function_call_output", "call_id": "c2",
         "output": "Chunk ID: b\nWall time: 0.5 seconds\nProcess exited with code 3\nOutput:\ntwo\n"},
    )  # fmt: skip
    assert [each.text for each in messages if isinstance(each, Delta)] == ["one\n"]
    results = {each.call_id: each for each in messages if isinstance(each, ToolResult)}
    assert results["c1"].output == "one\ntwo\n"
    assert (results["c1"].exit_code, results["c1"].is_error) == (3, True)
    assert results["c2"].output == "two\n"


def test_an_output_without_its_call_is_told() -> None:
    messages = in_rollout({"type": "function_call_output", "call_id": "c", "output": "lost"})
    results = [each for each in messages if isinstance(each, ToolResult)]
    assert [(each.call_id, each.output) for each in results] == [("c", "lost")]


def test_a_plan_is_told_when_the_tool_accepted_it() -> None:
    arguments = json.dumps({"plan": [{"step": "look", "status": "pending"}]})
    call = {"type": "function_call", "call_id": "c", "name": "update_plan", "arguments": arguments}
    done = {"type": "function_call_output", "call_id": "c", "output": "Plan updated"}
    failed = {"type": "function_call_output", "call_id": "c",
              "output": "failed to parse function arguments: x"}  # fmt: skip
    assert len([each for each in in_rollout(call, done) if isinstance(each, Plan)]) == 1
    assert not [each for each in in_rollout(call, failed) if isinstance(each, Plan)]


def test_a_script_of_code_mode_speaks_only_if_its_tools_did_not() -> None:
    def script(call_id: str) -> list[dict[str, Any]]:
        call = {
            "type": "custom_tool_call",
            "call_id": call_id,
            "name": "exec",
            "input": "tools.x()",
        }
        return [row(**call), row(type="custom_tool_call_output", call_id=call_id, output="done")]

    item = {"type": "CommandExecution", "id": "e1", "command": ["ls"], "status": "completed",
            "exit_code": 0, "aggregated_output": "a"}  # fmt: skip
    spoken = {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg",
              "payload": {"type": "item_completed", "item": item}}  # fmt: skip
    first, second = script("s1"), script("s2")
    messages = told(_META, first[0], spoken, first[1], *second, dialect="codex-rollout")
    calls = [(each.call_id, each.tool) for each in messages if isinstance(each, ToolCall)]
    assert calls == [("e1", "Bash"), ("s2", "exec")]


# Streams of the Responses API.


def test_server_sent_events_are_read_by_their_data_lines() -> None:
    item = {"type": "message", "role": "assistant", "id": "m",
            "content": [{"type": "output_text", "text": "hi"}]}  # fmt: skip
    messages = told(
        "event: response.created",
        'data: {"type":"response.created","response":{"model":"m1"}}',
        "",
        ": a comment",
        "data: " + json.dumps({"type": "response.output_item.done", "item": item}),
        "data: [DONE]",
    )
    assert [each.text for each in messages if isinstance(each, Text)] == ["hi"]


def test_a_response_that_failed_fails_the_turn() -> None:
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    ended = told({"type": "response.failed", "response": {"error": error}})[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "failed"
    assert ended.error is not None
    assert ended.error.message == "slow down"


def test_an_incomplete_response_leaves_the_turn_interrupted() -> None:
    ended = told(
        {"type": "response.created", "response": {}},
        {"type": "response.incomplete", "response": {"usage": {"input_tokens": 3}}},
    )[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.usage) == ("interrupted", Usage(input_tokens=3))


def test_several_responses_are_one_turn() -> None:
    def response(number: int) -> list[dict[str, Any]]:
        usage = {"input_tokens": number, "output_tokens": 1}
        return [
            {"type": "response.created", "response": {"id": f"r{number}"}},
            {"type": "response.completed", "response": {"usage": usage}},
        ]

    ended = told(*response(10), *response(20))[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.usage == Usage(input_tokens=30, output_tokens=2)


def test_usage_names_the_response_it_belongs_to() -> None:
    response = {"id": "resp_1", "usage": {"input_tokens": 3}}
    reports = [
        each
        for each in told({"type": "response.completed", "response": response})
        if isinstance(each, UsageReport)
    ]
    assert [report.response_id for report in reports] == ["resp_1"]


def test_what_a_stream_has_that_nobody_knows_is_kept() -> None:
    messages = told(
        {"type": "response.created", "response": {}},
        {"type": "response.output_item.done", "item": {"type": "hologram"}},
        {"type": "weather"},
        "data: {broken",
        {"type": "error", "message": "gone"},
    )
    unknown = [each.native_type for each in messages if isinstance(each, Unknown)]
    assert unknown == ["item hologram", "weather"]
    assert len([each for each in messages if isinstance(each, Malformed)]) == 1
    assert [each.text for each in messages if isinstance(each, Notice)] == ["gone"]


def test_letters_between_agents_are_context() -> None:
    letter = {"type": "agent_message", "author": "/root", "recipient": "/root/a",
              "content": [{"type": "input_text", "text": "add them"}]}  # fmt: skip
    contexts = [each for each in in_rollout(letter) if isinstance(each, Context)]
    assert len(contexts) == 1
    assert "add them" in contexts[0].text
    assert "/root" in contexts[0].text


def test_reasoning_has_one_message_for_each_part() -> None:
    parts = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    raw = [{"type": "reasoning_text", "text": "c"}]
    messages = in_rollout({"type": "reasoning", "summary": parts, "content": raw})
    assert [each.text for each in messages if isinstance(each, Thinking)] == ["a", "b", "c"]
