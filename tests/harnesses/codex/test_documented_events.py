"""Session files and core events as documents show them, in any envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.model.messages import (
    ApprovalRequested,
    Notice,
    Plan,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from support.codex.documented import ASK, DONE, START, event, note, told
from support.messages import of


def row(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2025-10-28T22:42:36.506Z", "type": kind, "payload": payload}


def test_a_session_file_with_every_row() -> None:
    told(
        row("session_meta", {"id": "s", "timestamp": "2025-10-28T22:42:34Z", "cwd": "/w", "originator": "cli",
            "cli_version": "0.50.0", "instructions": None}),
        row("turn_context", {"cwd": "/w", "approval_policy": "never", "sandbox_policy": {"mode": "read-only"},
            "model": "gpt-5-codex", "effort": "low", "summary": "auto"}),
        row("event_msg", {"type": "user_message", "message": "what's your name?", "kind": "plain"}),
        row("response_item", {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "Hello"}]}),
        row("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Planning"}],
            "content": None, "encrypted_content": "x"}),
        row("event_msg", {"type": "agent_reasoning", "text": "**Planning next**"}),
        row("response_item", {"type": "function_call", "name": "shell", "call_id": "c1",
            "arguments": json.dumps({"command": ["zsh", "-lc", "ls"]})}),
        row("response_item", {"type": "function_call_output", "call_id": "c1",
            "output": json.dumps({"output": "f1\nf2", "metadata": {"exit_code": 3, "duration_seconds": 0.1}})}),
        row("event_msg", {"type": "agent_message", "message": "I'm Codex"}),
        row("response_item", {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "Hello there"}]}),
        row("event_msg", {"type": "token_count", "info": {}, "rate_limits": {}}),
    )  # fmt: skip


def test_a_turn_that_only_an_event_has_ended_ends_when_another_begins() -> None:
    messages = told(
        *START,
        *ASK,
        event("task_complete", lastAgentMessage="4"),
        note("turn/started", turn={"id": "turn_1"}),
        event("agent_message", message="again"),
        event("task_complete", lastAgentMessage="again"),
    )
    assert [each.outcome for each in of(TurnEnded, messages)] == ["completed", "completed"]
    assert [each.text for each in of(Text, messages)] == ["4", "again"]


def bare(name: str, **fields: Any) -> dict[str, Any]:
    """An event as some documents show it: its fields are the parameters themselves."""
    return note(f"codex/event/{name}", **fields)


def typed(name: str, **msg: Any) -> dict[str, Any]:
    """An event that says its type, and spells its fields in camelCase all the same."""
    return note(f"codex/event/{name}", msg={"type": name, **msg})


def test_an_event_that_mixes_two_spellings_loses_nothing() -> None:
    changes = {"/a.py": {"type": "add", "content": "print(1)"}}
    messages = told(
        *START,
        *ASK,
        event("exec_command_begin", call_id="c1", command=["ls"], cwd="/project"),
        event("exec_command_end", call_id="c1", exitCode=3, aggregatedOutput="one"),
        event("apply_patch_approval_request", call_id="c2", fileChanges=changes),
        DONE,
    )
    result = of(ToolResult, messages)[0]
    assert (result.output, result.exit_code) == ("one", 3)
    [_, edit] = of(ToolCall, messages)
    assert edit.input["content"] == "print(1)"


@pytest.mark.parametrize("spelled", [event, bare, typed], ids=["msg", "bare", "typed"])
def test_events_are_read_however_a_document_wraps_them(spelled: Any) -> None:
    changes = {"/a.py": {"add": {"content": "print(1)"}}}
    messages = told(
        *START,
        *ASK,
        spelled("exec_command_begin", callId="c1", command=["git", "status"], cwd="/project"),
        spelled("exec_command_output_delta", callId="c1", stream="stdout", chunk="On branch main"),
        spelled("exec_command_end", callId="c1", exitCode=3, duration="125ms"),
        spelled("apply_patch_approval_request", callId="c2", fileChanges=changes, reason="add it"),
        spelled("agent_message", message="That is all."),
        DONE,
    )
    [command, edit] = of(ToolCall, messages)
    assert (command.input, edit.tool) == ({"command": "git status"}, "Write")
    result = of(ToolResult, messages)[0]
    assert (result.output, result.exit_code, result.duration_ms) == ("On branch main", 3, 125)
    [asked] = of(ApprovalRequested, messages)
    assert asked.detail["reason"] == "add it"
    assert [each.text for each in of(Text, messages)] == ["That is all."]


@pytest.mark.parametrize("spelled", [event, bare, typed], ids=["msg", "bare", "typed"])
def test_the_last_message_of_a_task_is_told_if_nothing_else_tells_it(spelled: Any) -> None:
    messages = told(
        spelled("session_configured", model="gpt-5", sessionId="thr_1", rolloutPath="/r.jsonl"),
        spelled("task_started", modelContextWindow=1000, turnId="turn_1"),
        spelled("task_complete", lastAgentMessage="Four.", status="completed"),
    )
    assert [each.text for each in of(Text, messages)] == ["Four."]
    assert len(of(TurnStarted, messages)) == len(of(TurnEnded, messages)) == 1


@pytest.mark.parametrize(
    ("result", "error", "output"),
    [
        ({"rows": 3}, None, '{"rows":3}'),
        ([{"a": "b"}], None, '[{"a":"b"}]'),
        ("plain", None, "plain"),
        (None, "no such tool", "no such tool"),
        (None, {"message": "denied"}, "denied"),
        (None, {"message": "denied", "code": 7}, '{"message":"denied","code":7}'),
        ({"content": [{"type": "text", "text": "half"}]}, "cut off", "cut off\nhalf"),
    ],
    ids=str,
)
def test_an_mcp_result_of_any_form_is_kept(result: Any, error: Any, output: str) -> None:
    begin = {"callId": "c1", "tool": "look", "server": "jira"}
    streams: list[list[dict[str, Any]]] = [
        [
            *START,
            *ASK,
            event("mcp_tool_call_begin", **begin, arguments={}),
            event("mcp_tool_call_end", callId="c1", result=result, error=error),
            DONE,
        ],
        [
            {"type": "thread.started", "thread_id": "t"},
            {"type": "turn.started"},
            {"type": "item.completed", "item": {"id": "i1", "type": "mcp_tool_call", "server": "jira",
             "tool": "look", "arguments": {}, "result": result, "error": error}},
        ],
    ]  # fmt: skip
    for lines in streams:
        [given] = of(ToolResult, told(*lines))
        assert (given.output, given.is_error) == (output, error is not None)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (None, {}),
        ("words", {"raw": "words"}),
        (["a", 1], {"value": ["a", 1]}),
        ({"x": 1}, {"x": 1}),
    ],
    ids=str,
)
def test_arguments_that_are_no_object_are_kept_in_one(arguments: Any, shown: Any) -> None:
    messages = told(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "i1", "type": "mcp_tool_call", "server": "s",
         "tool": "t", "arguments": arguments, "result": "done"}},
    )  # fmt: skip
    assert [call.input for call in of(ToolCall, messages)] == [shown]


def test_a_plan_of_plain_words_is_a_plan() -> None:
    messages = told(*START, *ASK, event("plan_update", plan=["Read", {"text": "Write"}]), DONE)
    assert [step.text for step in of(Plan, messages)[0].steps] == ["Read", "Write"]


@pytest.mark.parametrize("reason", ["replaced", "review_ended"])
def test_why_a_turn_was_aborted_is_told(reason: str) -> None:
    ended = note("turn/completed", turnId="turn_1", status="interrupted")
    messages = told(*START, *ASK, event("turn_aborted", reason=reason), ended)
    assert [each.text for each in of(Notice, messages)] == [f"turn aborted: {reason}"]
    assert [each.outcome for each in of(TurnEnded, messages)] == ["interrupted"]


def test_what_a_failed_patch_printed_is_told_whole() -> None:
    end = event(
        "patch_apply_end", callId="c1", success=False, stdout="1 applied", stderr="2 failed"
    )
    begin = event("patch_apply_begin", callId="c1", changes={"/a": {"add": {"content": "x"}}})
    messages = told(*START, *ASK, begin, end, DONE)
    assert [each.output for each in of(ToolResult, messages)] == ["2 failed\n1 applied"]


@pytest.mark.parametrize(
    ("failed", "message", "details"),
    [
        ({"error": {"message": "cut", "code": "E7"}}, "cut", '{"code":"E7"}'),
        ({"error": "cut"}, "cut", None),
        ({"message": "cut"}, "cut", None),
    ],
    ids=["code", "words", "message"],
)
def test_why_a_turn_failed_is_told_whole(failed: Any, message: str, details: str | None) -> None:
    start = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]
    [ended] = of(TurnEnded, told(*start, {"type": "turn.failed", **failed}))
    assert (ended.error.message, ended.error.details) == (message, details)
