from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from dragoman.export.base import Options
from dragoman.export.claude.exporter import ClaudeExporter
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    Diff,
    Malformed,
    Notice,
    Prompt,
    RateLimits,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    Unknown,
    UsageReport,
)
from dragoman.model.usage import Usage
from support.claude.exported import NO_TOKENS, PLAN, claude, result

AT = datetime(2026, 11, 15, 22, 26, 6, tzinfo=UTC)


def assistant(block: dict[str, object], **differently: object) -> dict[str, object]:
    message = {
        "id": "msg_s_1",
        "type": "message",
        "role": "assistant",
        "model": "",
        "content": [block],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": NO_TOKENS,
    }
    return {
        "type": "assistant",
        "message": message | differently,
        "parent_tool_use_id": None,
        "session_id": "s",
    }


def user(*blocks: dict[str, object]) -> dict[str, object]:
    return {
        "type": "user",
        "message": {"role": "user", "content": [*blocks]},
        "parent_tool_use_id": None,
        "session_id": "s",
    }


def test_a_session_begins_with_init() -> None:
    started = SessionStarted(session_id="s", harness="codex", model="gpt-5.5", cwd="/w")

    assert claude(started) == [
        {
            "type": "system",
            "subtype": "init",
            "cwd": "/w",
            "session_id": "s",
            "tools": [],
            "mcp_servers": [],
            "model": "gpt-5.5",
            "permissionMode": "default",
            "slash_commands": [],
            "apiKeySource": "none",
        }
    ]


def test_what_is_not_known_of_a_session_is_empty_not_null() -> None:
    init, said, ended = claude(
        SessionStarted(harness="codex"), Text(text="Hello"), TurnEnded(outcome="completed")
    )

    assert (init["model"], init["cwd"], init["session_id"]) == ("", "", "")
    assert (said["message"]["model"], said["session_id"]) == ("", "")
    assert ended["session_id"] == ""


def test_a_prompt_is_a_user_line() -> None:
    assert claude(Prompt(session_id="s", text="fix it", images=["/tmp/a.png"])) == [
        user({"type": "text", "text": "fix it"}, {"type": "text", "text": "[image: /tmp/a.png]"})
    ]


def test_what_the_agent_says_is_one_assistant_line_per_block() -> None:
    assert claude(
        SessionStarted(session_id="s", harness="codex", model="gpt-5.5"),
        Thinking(session_id="s", line=1, text="hm"),
        Text(session_id="s", line=2, text="Hello", message_id="item_0"),
        ToolCall(
            session_id="s",
            line=3,
            call_id="item_1",
            tool="Bash",
            native_tool="shell",
            input={"command": "ls"},
        ),
    )[1:] == [
        assistant({"type": "thinking", "thinking": "hm", "signature": ""}, model="gpt-5.5"),
        assistant({"type": "text", "text": "Hello"}, id="item_0", model="gpt-5.5"),
        assistant(
            {"type": "tool_use", "id": "item_1", "name": "Bash", "input": {"command": "ls"}},
            id="msg_s_3",
            model="gpt-5.5",
        ),
    ]


def test_a_tool_result_is_a_user_line() -> None:
    assert claude(ToolResult(session_id="s", call_id="c1", output="bad", is_error=True)) == [
        user({"type": "tool_result", "tool_use_id": "c1", "content": "bad", "is_error": True})
    ]


def test_a_line_tells_the_time_when_the_message_does() -> None:
    [line] = claude(Text(session_id="s", line=1, at=AT, text="Hello"))

    assert line == assistant({"type": "text", "text": "Hello"}) | {
        "timestamp": "2026-11-15T22:26:06Z"
    }


TODO_CALL = ToolCall(session_id="s", call_id="c1", tool="TodoWrite", native_tool="update_plan")


def test_a_plan_is_a_todo_call_and_its_result() -> None:
    todo = {"content": "look", "status": "in_progress", "activeForm": "look"}

    assert claude(PLAN) == [
        assistant(
            {"type": "tool_use", "id": "plan_4", "name": "TodoWrite", "input": {"todos": [todo]}},
            id="msg_s_4",
        ),
        user(
            {
                "type": "tool_result",
                "tool_use_id": "plan_4",
                "content": "Todos updated",
                "is_error": False,
            }
        ),
    ]


def test_a_plan_is_not_said_twice_while_its_call_is_open() -> None:
    assert len(claude(TODO_CALL, PLAN)) == 1
    assert len(claude(TODO_CALL, ToolResult(session_id="s", call_id="c1"), PLAN)) == 4
    assert len(claude(TODO_CALL, TurnEnded(session_id="s", outcome="interrupted"), PLAN)) == 4


def test_an_open_todo_call_of_another_session_hides_nothing() -> None:
    assert len(claude(TODO_CALL, msgspec.structs.replace(PLAN, session_id="other"))) == 3


def test_a_completed_turn_is_a_successful_result_with_its_last_text() -> None:
    assert claude(
        TurnStarted(session_id="s", at=AT),
        Text(session_id="s", line=1, text="first"),
        Text(session_id="s", line=1, text="Done."),
        TurnEnded(
            session_id="s",
            at=AT + timedelta(seconds=2.5),
            outcome="completed",
            usage=Usage(100, 60, 10, 7, 3),
        ),
    )[3:] == [
        result(
            result="Done.",
            duration_ms=2500,
            usage={
                "input_tokens": 30,
                "cache_creation_input_tokens": 10,
                "cache_read_input_tokens": 60,
                "output_tokens": 7,
            },
        )
    ]


def test_turns_are_counted_and_do_not_share_their_text() -> None:
    assert claude(
        Text(session_id="s", text="one"),
        TurnEnded(session_id="s", outcome="completed"),
        TurnStarted(session_id="s"),
        TurnEnded(session_id="s", outcome="completed"),
    )[1:] == [
        result(result="one"),
        {"type": "system", "subtype": "turn_started", "session_id": "s"},
        result(num_turns=2),
    ]


def test_a_failed_turn_is_a_result_with_the_error_in_it() -> None:
    error = TurnError("unauthorized", "Invalid API key", retryable=False)

    assert claude(
        Text(session_id="s", text="I will try"),
        TurnEnded(session_id="s", outcome="failed", error=error),
    )[1:] == [
        result(
            subtype="error_during_execution",
            is_error=True,
            result="Invalid API key",
            errors=["Invalid API key"],
        )
    ]


def test_an_interrupted_turn_is_a_result_that_is_an_error() -> None:
    assert claude(
        Text(session_id="s", text="half"), TurnEnded(session_id="s", outcome="interrupted")
    )[1:] == [
        result(
            subtype="error_during_execution", is_error=True, result="half", errors=["interrupted"]
        )
    ]


def test_usage_reports_fill_a_result_that_has_no_usage_of_its_own() -> None:
    lines = claude(
        TurnStarted(session_id="s"),
        UsageReport(session_id="s", total=Usage(130, 60, 0, 11), last=Usage(30, 10, 0, 3)),
        TurnEnded(session_id="s", outcome="completed"),
        TurnStarted(session_id="s"),
        TurnEnded(session_id="s", outcome="completed"),
    )

    assert [line["usage"] for line in lines if line["type"] == "result"] == [
        NO_TOKENS | {"input_tokens": 20, "cache_read_input_tokens": 10, "output_tokens": 3},
        NO_TOKENS,
    ]


def test_notices_and_compaction_are_system_lines() -> None:
    lines = claude(
        Notice(session_id="s", level="warning", text="slow"),
        Notice(session_id="s", level="error", text="busy", will_retry=True),
        Compacted(session_id="s"),
    )

    assert [(line["type"], line["subtype"]) for line in lines] == [
        ("system", "informational"),
        ("system", "api_retry"),
        ("system", "compact_boundary"),
    ]


def test_approvals_are_told_but_never_asked() -> None:
    assert claude(
        ApprovalRequested(
            session_id="s",
            approval_id="a1",
            kind="command",
            tool="Bash",
            summary="rm -rf build",
            detail={"cwd": "/w"},
            choices=["accept", "decline"],
        ),
        ApprovalSettled(session_id="s", approval_id="a1", decision="decline"),
    ) == [
        {
            "type": "system",
            "subtype": "approval_requested",
            "approval_id": "a1",
            "kind": "command",
            "tool": "Bash",
            "summary": "rm -rf build",
            "detail": {"cwd": "/w"},
            "choices": ["accept", "decline"],
            "command": None,
            "argv": None,
            "shell": None,
            "cwd": None,
            "always": None,
            "form": None,
            "url": None,
            "session_id": "s",
        },
        {
            "type": "system",
            "subtype": "approval_settled",
            "approval_id": "a1",
            "decision": "decline",
            "detail": {},
            "session_id": "s",
        },
    ]


def test_what_claude_has_no_word_for_is_left_out() -> None:
    assert (
        claude(
            Diff(session_id="s", unified="diff"),
            RateLimits(session_id="s"),
            SessionEnded(session_id="s", reason="eof"),
            Context(session_id="s", role="developer", text="be careful"),
            Delta(session_id="s", of="text", text="He"),
            Unknown(session_id="s", native_type="new", raw='{"type":"new"}'),
            Malformed(session_id="s", raw="oops", problem="not JSON"),
        )
        == []
    )


def test_context_comes_when_asked_for() -> None:
    asked = claude(
        Context(session_id="s", role="developer", text="be careful"),
        include=frozenset({"context"}),
    )

    assert asked == [
        {
            "type": "system",
            "subtype": "context",
            "role": "developer",
            "content": "be careful",
            "session_id": "s",
        }
    ]


def test_deltas_of_text_and_thinking_come_when_asked_for() -> None:
    asked = claude(
        Delta(session_id="s", of="text", text="He"),
        Delta(session_id="s", of="thinking", text="hm"),
        Delta(session_id="s", of="output", text="ok"),
        Delta(session_id="s", of="plan", text="1."),
        include=frozenset({"deltas"}),
    )

    assert asked == [
        {
            "type": "stream_event",
            "event": {"type": "content_block_delta", "index": 0, "delta": delta},
            "session_id": "s",
            "parent_tool_use_id": None,
        }
        for delta in (
            {"type": "text_delta", "text": "He"},
            {"type": "thinking_delta", "thinking": "hm"},
        )
    ]


def test_raw_lines_come_as_they_came_when_asked_for() -> None:
    exporter = ClaudeExporter(Options(include=frozenset({"raw"})))

    written = exporter.export(
        [
            Unknown(native_type="new", raw='{"type": "new", "n": 1.0}'),
            Unknown(native_type="new", raw='{\n"type": "new"}'),
            Malformed(raw="oops", problem="not JSON"),
        ]
    )

    assert written == (
        b'{"type": "new", "n": 1.0}\n'
        b'{ "type": "new"}\n'
        b'{"type":"raw","raw":"oops","problem":"not JSON"}\n'
    )
