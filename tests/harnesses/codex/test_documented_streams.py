"""Streams in exactly the shapes that documents about Codex describe: every value must reach a message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.model.messages import (
    ApprovalRequested,
    Delta,
    Message,
    Notice,
    Plan,
    PlanStep,
    Prompt,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from dragoman.reading.audit import audit
from dragoman.reading.read import read
from support.codex.documented import ASK, DONE, START, event, note, stream, told
from support.messages import of


def test_an_exec_stream_with_every_item() -> None:
    usage = {"input_tokens": 24763, "cached_input_tokens": 24448, "output_tokens": 122}
    messages = told(
        {"type": "thread.started", "thread_id": "0199a213-81c0"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "**Scan**"}},
        {"type": "item.started", "item": {"id": "i1", "type": "command_execution", "command": "bash -lc ls",
         "aggregated_output": "", "exit_code": None, "status": "in_progress"}},
        {"type": "item.completed", "item": {"id": "i1", "type": "command_execution", "command": "bash -lc ls",
         "aggregated_output": "docs\nsrc\n", "exit_code": 0, "status": "completed"}},
        {"type": "item.completed", "item": {"id": "i4", "type": "file_change", "status": "completed",
         "changes": [{"path": "docs/foo.md", "kind": "add"}, {"path": "b.md", "kind": "delete"}]}},
        {"type": "item.started", "item": {"id": "i5", "type": "mcp_tool_call", "server": "jira", "tool": "look",
         "arguments": {"ticketId": "AB-7"}, "result": None, "error": None}},
        {"type": "item.completed", "item": {"id": "i5", "type": "mcp_tool_call", "server": "jira", "tool": "look",
         "arguments": {"ticketId": "AB-7"}, "result": {"content": [{"type": "text", "text": "closed"}]}}},
        {"type": "item.completed", "item": {"id": "i6", "type": "mcp_tool_call", "server": "jira", "tool": "drop",
         "arguments": {}, "error": {"message": "no such ticket"}, "status": "failed"}},
        {"type": "item.completed", "item": {"id": "i7", "type": "web_search", "query": "codex exec"}},
        {"type": "item.started", "item": {"id": "i8", "type": "todo_list",
         "items": [{"text": "Read", "completed": True}, {"text": "Write", "completed": False}]}},
        {"type": "item.completed", "item": {"id": "i9", "type": "error", "message": "a warning"}},
        {"type": "error", "message": "not fatal"},
        {"type": "item.completed", "item": {"id": "i3", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": usage},
    )  # fmt: skip
    assert [each.text for each in of(Notice, messages)] == ["a warning", "not fatal"]
    assert of(TurnEnded, messages)[0].usage.cached_input_tokens == 24448


def test_output_that_only_an_update_of_an_item_has_is_told() -> None:
    item = {"id": "i1", "type": "command_execution", "command": "make", "status": "in_progress"}
    messages = told(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.started", "item": {**item, "aggregated_output": ""}},
        {"type": "item.updated", "item": {**item, "aggregated_output": "one\n"}},
        {"type": "item.updated", "item": {**item, "aggregated_output": "one\ntwo\n"}},
    )
    assert [each.text for each in of(Delta, messages)] == ["one\n", "two\n"]
    assert [each.output for each in of(ToolResult, messages)] == ["one\ntwo\n"]


def test_a_text_that_only_an_update_has_is_told_whole_at_the_end() -> None:
    messages = told(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.updated", "item": {"id": "i1", "type": "agent_message", "text": "Half a"}},
        {"type": "item.updated", "item": {"id": "i2", "type": "reasoning", "text": "Half b"}},
        {"type": "turn.failed", "error": {"message": "stream cut"}},
    )
    assert [each.text for each in of(Text, messages)] == ["Half a"]
    assert [each.text for each in of(Thinking, messages)] == ["Half b"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ({"type": "error"}, '{"type": "error"}'),
        ({"type": "error", "error": {"code": 7}}, '{"type": "error", "error": {"code": 7}}'),
        ({"type": "error", "message": {"why": "x"}}, '{"type": "error", "message": {"why": "x"}}'),
        ({"type": "error", "message": "oh", "details": "because"}, "oh\nbecause"),
    ],
    ids=["nothing", "error", "object", "details"],
)
def test_an_error_without_a_message_is_told_as_it_is(line: dict[str, Any], text: str) -> None:
    messages = told({"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, line)
    assert [each.text for each in of(Notice, messages)] == [text]


@pytest.mark.parametrize(
    ("error", "message"),
    [("boom", "boom"), ({"message": "boom"}, "boom"), ({"code": 9}, '{"code":9}')],
)
def test_a_failed_turn_says_why_in_whatever_form_it_comes(error: Any, message: str) -> None:
    messages = told(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "turn.failed", "error": error},
    )
    [ended] = of(TurnEnded, messages)
    assert (ended.outcome, ended.error.message) == ("failed", message)


def test_a_simple_question_and_answer() -> None:
    messages = told(
        *START,
        *ASK,
        note("item/created", turnId="turn_1", item={"type": "assistant", "textDelta": "2"}),
        note("item/delta", turnId="turn_1", delta=" + 2"),
        note("item/delta", turnId="turn_1", delta=" = 4"),
        DONE,
    )
    assert [(each.text, each.line) for each in of(Prompt, messages)] == [("What is 2+2?", 4)]
    assert [each.text for each in of(Text, messages)] == ["2 + 2 = 4"]
    assert len(of(TurnStarted, messages)) == len(of(TurnEnded, messages)) == 1


def test_the_prompt_comes_before_what_is_made_of_it_and_once() -> None:
    item = {"id": "u", "type": "userMessage", "content": [{"type": "text", "text": "What is 2+2?"}]}
    for extra in ([], [note("item/started", turnId="turn_1", item=item)]):
        messages = told(
            *START,
            *ASK,
            *extra,
            note("item/created", item={"type": "assistant", "text": "4"}),
            DONE,
        )
        kinds = [type(each) for each in messages if isinstance(each, TurnStarted | Prompt | Text)]
        assert kinds == [TurnStarted, Prompt, Text]


def test_a_word_to_a_running_turn_that_nothing_repeats_is_told_when_the_turn_ends() -> None:
    steer = {"threadId": "thr_1", "input": [{"type": "text", "text": "only the parser"}]}
    messages = told(
        *START,
        *ASK,
        {"id": 3, "method": "turn/steer", "params": steer},
        {"id": 3, "result": {}},
        note("item/created", item={"type": "assistant", "text": "4"}),
        DONE,
    )
    assert [each.text for each in of(Prompt, messages)] == ["What is 2+2?", "only the parser"]
    assert len(of(TurnStarted, messages)) == 1


def test_a_command_with_its_approval() -> None:
    messages = told(
        *START,
        *ASK,
        {"id": 100, "method": "execCommandApproval", "params": {"conversationId": "thr_1", "callId": "cmd_1",
         "command": ["git", "status"], "cwd": "/project", "reason": "Check git state"}},
        {"id": 100, "result": {"decision": "approved"}},
        event("exec_command_begin", callId="cmd_1", command=["git", "status"], cwd="/project"),
        event("exec_command_output_delta", callId="cmd_1", stream="stdout", chunk="On branch main\n"),
        event("exec_command_output_delta", callId="cmd_1", stream="stderr", chunk="mine"),
        event("exec_command_end", callId="cmd_1", exitCode=0, duration="125ms"),
        DONE,
    )  # fmt: skip
    [result] = of(ToolResult, messages)
    assert (result.output, result.exit_code, result.duration_ms) == ("On branch main\nmine", 0, 125)
    assert of(ApprovalRequested, messages)[0].detail["reason"] == "Check git state"


@pytest.mark.parametrize(
    "took",
    [
        {"duration": 125},
        {"duration": [0, 125_000_000]},
        {"duration": ["125ms"]},
        {"duration": {"seconds": 0, "nanos": 125_000_000}},
        {"duration": {"elapsed": 125}},
        {"durationMs": 125},
        {"duration_ms": 125},
    ],
    ids=str,
)
def test_a_duration_in_any_form_is_told(took: dict[str, Any]) -> None:
    messages = told(
        *START,
        *ASK,
        event("exec_command_begin", callId="c", command=["ls"]),
        event("exec_command_end", callId="c", exitCode=0, **took),
        DONE,
    )
    assert [each.duration_ms for each in of(ToolResult, messages)] == [125]


def test_an_interrupted_turn() -> None:
    messages = told(
        *START,
        *ASK,
        {"id": 5, "method": "turn/interrupt", "params": {"threadId": "thr_1", "turnId": "turn_1"}},
        {"id": 5, "result": {}},
        event("turn_aborted", reason="interrupted"),
        note("turn/completed", turnId="turn_1", status="interrupted"),
    )
    assert [each.outcome for each in of(TurnEnded, messages)] == ["interrupted"]
    assert len(of(TurnStarted, messages)) == 1


def test_a_failed_turn_has_its_error_and_its_tokens() -> None:
    usage = {"input_tokens": 71, "output_tokens": 13, "cached_input_tokens": 37}
    error = {"message": "no more", "codexErrorInfo": "UsageLimitExceeded"}
    messages = told(
        *START,
        *ASK,
        event("task_complete", lastAgentMessage="I tried", status="failed"),
        note(
            "turn/completed", turn={"id": "turn_1", "status": "failed", "error": error}, usage=usage
        ),
    )
    [ended] = of(TurnEnded, messages)
    assert (ended.outcome, ended.error.native) == ("failed", "UsageLimitExceeded")
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (71, 13)
    assert [each.text for each in of(Text, messages)] == ["I tried"]


@pytest.mark.parametrize("first", ["created", "events"])
def test_items_beside_core_events_are_told_once_in_one_turn(first: str) -> None:
    created = [
        note("item/created", turnId="turn_1", item={"type": "assistant", "textDelta": "Hel"}),
        note("item/delta", turnId="turn_1", delta="lo"),
    ]
    events = [event("agent_message_delta", delta="Hel"), event("agent_message_delta", delta="lo")]
    both = created + events if first == "created" else events + created
    messages = told(
        *START,
        *ASK,
        event("task_started", turnId="turn_1", modelContextWindow=258400),
        *both,
        event("agent_message", message="Hello"),
        event("task_complete", lastAgentMessage="Hello", status="completed"),
        DONE,
    )
    assert [each.text for each in of(Text, messages)] == ["Hello"]
    assert "".join(each.text for each in of(Delta, messages)) == "Hello"
    assert len(of(TurnStarted, messages)) == len(of(TurnEnded, messages)) == 1


@pytest.mark.parametrize(
    ("item", "kind", "attributes"),
    [
        ({"type": "assistant", "text": "Hello"}, Text, {"text": "Hello"}),
        ({"type": "assistant", "content": {"text": "Hello"}}, Text, {"text": "Hello"}),
        ({"type": "assistant", "content": [{"text": "Well, "}, {"text": "hello"}]}, Text, {"text": "Well, hello"}),
        ({"type": "agentReasoning", "text": "Hm"}, Thinking, {"text": "Hm"}),
        ({"type": "assistant", "purpose": "reasoning", "text": "Hm"}, Thinking, {"text": "Hm"}),
        ({"type": "plan", "text": "first this"}, Plan, {"explanation": "first this"}),
        (
            {"type": "plan", "explanation": "why", "steps": [{"step": "Read", "status": "completed"}]},
            Plan,
            {"explanation": "why", "steps": [PlanStep("Read", "completed")]},
        ),
        (
            {"type": "plan", "plan": [{"step": "Read", "status": "in_progress"}]},
            Plan,
            {"steps": [PlanStep("Read", "in_progress")]},
        ),
        ({"type": "image", "url": "https://x/y.png"}, ToolResult, {"output": "https://x/y.png"}),
        ({"type": "image", "id": "p", "path": "/p/y.png"}, ToolCall, {"input": {"path": "/p/y.png"}}),
        ({"type": "imageView", "id": "p", "path": "/p/y.png"}, ToolCall, {"tool": "Read"}),
        ({"type": "user", "text": "and then?"}, Prompt, {"text": "and then?"}),
    ],
    ids=lambda value: str(value)[:60],  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
)  # fmt: skip
def test_every_kind_of_item_created_is_told(
    item: dict[str, Any], kind: type[Message], attributes: dict[str, Any]
) -> None:
    messages = told(*START, note("turn/started", turn={"id": "u"}), note("item/created", item=item))
    found = [{name: getattr(each, name) for name in attributes} for each in of(kind, messages)]
    assert found == [attributes]


def test_an_item_created_of_no_known_kind_is_kept_whole() -> None:
    data = stream(*START, note("item/created", item={"type": "hologram", "beam": 7}))
    [kept] = of(Unknown, list(read(data)))
    assert json.loads(kept.raw)["params"]["item"]["beam"] == 7


def test_every_tool_event_in_camel_case() -> None:
    messages = told(
        *START,
        *ASK,
        event("session_configured", model="gpt-5-codex", sessionId="thr_1", rolloutPath="/r.jsonl"),
        event("mcp_tool_call_begin", callId="m", tool="look", server="jira", arguments={"ticketId": "AB-7"}),
        event("mcp_tool_call_end", callId="m", result={"content": [{"type": "text", "text": "open"}]}),
        event("mcp_tool_call_begin", callId="n", tool="drop", server="jira", arguments={}),
        event("mcp_tool_call_end", callId="n", error="no such ticket"),
        event("web_search_begin", callId="w", query="weather in Oslo"),
        event("web_search_end", callId="w"),
        event("apply_patch_approval_request", callId="p", reason="to greet",
              fileChanges={"src/MyFile.ts": {"type": "add", "content": "hello\n"},
                           "src/Old.ts": {"type": "update", "unifiedDiff": "-a\n+b\n", "movePath": "src/New.ts"}}),
        event("patch_apply_begin", callId="p", autoApproved=False),
        event("patch_apply_end", callId="p", success=True),
        event("plan_update", explanation="why", plan=[{"step": "Read", "status": "inProgress"}]),
        event("agent_reasoning", content="Let me see"),
        event("agent_reasoning_delta", delta="Let me"),
        event("token_count", info={"totalTokenUsage": {"inputTokens": 71, "outputTokens": 13},
                                   "lastTokenUsage": {"inputTokens": 37, "outputTokens": 5}}),
        event("warning", message="be careful"),
        note("account/rateLimits/updated", rateLimits={"primary": {"usedPercent": 41.5}}),
        DONE,
    )  # fmt: skip
    inputs = {each.call_id: each.input for each in of(ToolCall, messages)}
    assert inputs["m"] == {"ticketId": "AB-7"}
    assert inputs["w"] == {"query": "weather in Oslo"}
    paths = [(each["path"], each.get("move_path")) for each in inputs["p"]["changes"]]
    assert paths == [("src/MyFile.ts", None), ("src/Old.ts", "src/New.ts")]
    assert of(ApprovalRequested, messages)[0].detail["changes"] == inputs["p"]["changes"]


def test_a_search_that_never_ends_is_told() -> None:
    messages = told(*START, *ASK, event("web_search_begin", callId="w", query="rain"), DONE)
    assert [each.input for each in of(ToolCall, messages)] == [{"query": "rain"}]
    assert [each.status for each in of(ToolResult, messages)] == ["abandoned"]


def test_what_only_the_end_of_a_search_says_is_told() -> None:
    messages = told(
        *START,
        *ASK,
        event("web_search_begin", callId="w", query="rain"),
        event("web_search_end", callId="w", query="rain in Spain"),
        DONE,
    )
    assert [each.output for each in of(ToolResult, messages)] == ["rain in Spain"]


def test_the_details_of_an_error_are_told() -> None:
    messages = told(*START, *ASK, event("error", message="it broke", details="at line 7"))
    [ended] = of(TurnEnded, messages)
    assert (ended.error.message, ended.error.details) == ("it broke", "at line 7")


def test_an_error_outside_a_turn_is_told() -> None:
    messages = told(*START, event("error", message="it broke", details={"line": 7}))
    assert [(each.level, each.text) for each in of(Notice, messages)] == [
        ("error", 'it broke\n{"line":7}')
    ]


def test_one_error_does_not_hide_another() -> None:
    messages = told(
        *START, *ASK, event("error", message="first"), event("error", message="second"), DONE
    )
    assert [each.text for each in of(Notice, messages)] == ["first"]
    assert of(TurnEnded, messages)[0].error.message == "second"


def test_a_tool_call_that_is_answered_with_an_error_says_which() -> None:
    messages = told(
        *START,
        *ASK,
        {"id": 9, "method": "item/tool/call", "params": {"threadId": "thr_1", "turnId": "turn_1",
         "callId": "d", "tool": "lookup", "arguments": {"key": "AB-7"}}},
        {"id": 9, "error": {"code": -32601, "message": "no tool called lookup"}},
        DONE,
    )  # fmt: skip
    text = "item/tool/call was refused: no tool called lookup (-32601)"
    assert [each.text for each in of(Notice, messages)] == [text]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_stream_of_few_core_events_is_read(count: int) -> None:
    lines = [event("agent_message", message=f"text {number}") for number in range(count)]
    messages = told(*lines)
    assert [each.text for each in of(Text, messages)] == [f"text {n}" for n in range(count)]
    assert audit(stream(*lines)).dialect == "codex-app-server-v1"
