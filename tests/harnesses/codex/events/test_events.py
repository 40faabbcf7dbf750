"""Core events, whichever stream they come in."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

import dragoman
from dragoman import (
    ApprovalRequested,
    Compacted,
    Context,
    Delta,
    Diff,
    Message,
    Notice,
    Plan,
    RateLimits,
    SessionEnded,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from dragoman.harnesses.codex.events.dispatch import TELL
from dragoman.harnesses.codex.events.shape import Event, tag_of, tagged
from dragoman.harnesses.codex.events.shapes import AnyEvent


def told(*events: dict[str, Any]) -> list[Message]:
    lines = [{"id": "1", "msg": event} for event in ({"type": "task_started"}, *events)]
    messages = dragoman.read([json.dumps(line) for line in lines], dialect="codex-proto")
    return [message for message in messages if message.line > 1]


def event(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": name, **fields}


def test_every_shape_of_event_has_somebody_who_tells_it() -> None:
    assert set(tagged(Event)) == set(TELL)
    assert len({tag_of(shape) for shape in tagged(Event)}) == len(tagged(Event))
    assert AnyEvent is not Event


@pytest.mark.parametrize(
    ("kind", "fields", "level", "text"),
    [
        ("warning", {"message": "careful"}, "warning", "careful"),
        ("stream_error", {"message": "stream error: retrying 1/5"}, "warning",
         "stream error: retrying 1/5"),
        ("background_event", {"message": "indexing"}, "info", "indexing"),
        ("deprecation_notice", {"summary": "old", "details": "use new"}, "warning", "old\nuse new"),
        ("thread_rolled_back", {"num_turns": 2}, "info", "the last 2 turns were rolled back"),
        ("thread_name_updated", {"thread_name": "Fix"}, "info", "renamed: Fix"),
        ("mcp_startup_update", {"server": "db", "status": {"state": "failed", "error": "no"}},
         "warning", "MCP server db did not start: no"),
    ],
)  # fmt: skip
def test_words_of_the_harness_are_notices(
    kind: str, fields: dict[str, Any], level: str, text: str
) -> None:
    notices = [each for each in told(event(kind, **fields)) if isinstance(each, Notice)]
    assert [(each.level, each.text) for each in notices] == [(level, text)]


@pytest.mark.parametrize(("given", "undone"), [(2, 2), (-1, 0)])
def test_a_rollback_says_how_many_turns_it_undoes(given: int, undone: int) -> None:
    notice = told(event("thread_rolled_back", num_turns=given))[0]
    assert isinstance(notice, Notice)
    assert notice.undone_turns == undone


def test_a_retry_is_marked_as_one() -> None:
    notice = told(event("stream_error", message="stream disconnected; retrying"))[0]
    assert isinstance(notice, Notice)
    assert notice.will_retry


@pytest.mark.parametrize(
    ("begin", "end", "tool", "output", "is_error"),
    [
        (event("exec_command_begin", call_id="c", command=["bash", "-lc", "ls"], cwd="/w"),
         event("exec_command_end", call_id="c", stdout="a\n", stderr="", exit_code=0,
               duration={"secs": 1, "nanos": 0}),
         "Bash", "a\n", False),
        (event("mcp_tool_call_begin", call_id="c", server="db", tool="find", arguments={"q": 1}),
         event("mcp_tool_call_end", call_id="c",
               result={"Ok": {"content": [{"type": "text", "text": "x"}], "isError": True}}),
         "mcp__db__find", "x", True),
        (event("mcp_tool_call_begin", call_id="c",
               invocation={"server": "db", "tool": "find", "arguments": None}),
         event("mcp_tool_call_end", call_id="c", result={"Err": "gone"}),
         "mcp__db__find", "gone", True),
        (event("patch_apply_begin", call_id="c", changes={"/w/a": {"add": {"content": "x\n"}}}),
         event("patch_apply_end", call_id="c", stdout="", stderr="no such file", success=False),
         "Write", "no such file", True),
        (event("web_search_begin", call_id="c"),
         event("web_search_end", call_id="c", query="weather"), "WebSearch", "", False),
        (event("image_generation_begin", call_id="c"),
         event("image_generation_end", call_id="c", status="completed", saved_path="/w/a.png"),
         "image_generation", "/w/a.png", False),
        (event("dynamic_tool_call_request", callId="c", tool="lookup", arguments={"id": 1}),
         event("dynamic_tool_call_response", call_id="c", tool="lookup", success=False,
               content_items=[{"type": "inputText", "text": "none"}]),
         "lookup", "none", True),
        (event("collab_waiting_begin", call_id="c", receiver_thread_ids=["a1"]),
         event("collab_waiting_end", call_id="c", statuses={"a1": {"completed": "7"}}),
         "TaskOutput", "7", False),
        (event("collab_close_begin", call_id="c", receiver_thread_id="a1"),
         event("collab_close_end", call_id="c", receiver_thread_id="a1", status="shutdown"),
         "TaskStop", "shutdown", False),
    ],
)  # fmt: skip
def test_a_tool_at_work_is_a_call_and_its_result(
    begin: dict[str, Any], end: dict[str, Any], tool: str, output: str, is_error: bool
) -> None:
    messages = told(begin, end)
    calls = [each for each in messages if isinstance(each, ToolCall)]
    results = [each for each in messages if isinstance(each, ToolResult)]
    assert [each.tool for each in calls] == [tool]
    assert [(each.output, each.is_error) for each in results] == [(output, is_error)]


def test_an_end_without_a_beginning_is_both() -> None:
    messages = told(
        event("mcp_tool_call_end", call_id="c", result={"Ok": {"content": []}},
              invocation={"server": "db", "tool": "find", "arguments": {}})
    )  # fmt: skip
    assert [type(each) for each in messages[:2]] == [ToolCall, ToolResult]


@pytest.mark.parametrize(
    "chunk",
    [[104, 105], base64.b64encode(b"hi").decode(), "hi!"],
    ids=["numbers", "base64", "text"],
)
def test_output_on_the_way_is_a_delta_however_it_is_encoded(chunk: Any) -> None:
    messages = told(
        event("exec_command_begin", call_id="c", command=["ls"]),
        event("exec_command_output_delta", call_id="c", stream="stdout", chunk=chunk),
    )
    delta = next(each for each in messages if isinstance(each, Delta))
    assert delta.text.startswith("hi")
    assert delta.message_id == "c"


@pytest.mark.parametrize(
    ("kind", "fields", "asked"),
    [
        ("exec_approval_request", {"call_id": "c", "command": ["rm", "x"], "cwd": "/w"}, "command"),
        ("apply_patch_approval_request", {"call_id": "c", "changes": {}}, "edit"),
        ("request_user_input", {"call_id": "c", "questions": [{"question": "Which?"}]}, "question"),
        ("request_permissions", {"call_id": "c", "permissions": {"net": True}}, "permissions"),
        (
            "elicitation_request",
            {"id": 3, "server_name": "db", "message": "Log in?"},
            "elicitation",
        ),
    ],
)
def test_questions(kind: str, fields: dict[str, Any], asked: str) -> None:
    approvals = [
        each for each in told(event(kind, **fields)) if isinstance(each, ApprovalRequested)
    ]
    assert [each.kind for each in approvals] == [asked]


def test_the_rest_of_what_a_turn_is_made_of() -> None:
    messages = told(
        event("agent_reasoning_delta", delta="th"),
        event("agent_reasoning_section_break"),
        event("agent_reasoning", text="thought"),
        event("agent_reasoning_raw_content", text="raw thought"),
        event("agent_message_delta", delta="wo"),
        event("agent_message", message="words"),
        event("plan_update", plan=[{"step": "look", "status": "pending"}]),
        event("turn_diff", unified_diff="--- a"),
        event("user_message", message="<user_instructions>x", kind="user_instructions"),
        event("context_compacted"),
        event("token_count", info=None,
              rate_limits={"primary": {"used_percent": 5.0, "window_minutes": 300}}),
        event("shutdown_complete"),
    )  # fmt: skip
    kinds = (Thinking, Text, Plan, Diff, Context, Compacted, RateLimits, SessionEnded)
    for kind in kinds:
        assert [each for each in messages if isinstance(each, kind)], kind
    assert [each.text for each in messages if isinstance(each, Thinking)] == [
        "thought",
        "raw thought",
    ]


def test_an_item_of_a_new_type_is_kept() -> None:
    messages = told(event("item_completed", item={"type": "Hologram", "id": "h"}))
    assert [type(each) for each in messages[:1]] == [Unknown]
