"""Traffic with the app-server and the MCP server, where recordings have no example of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import (
    ApprovalRequested,
    ApprovalSettled,
    Delta,
    Message,
    Notice,
    Plan,
    Prompt,
    RateLimits,
    SessionEnded,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
    UsageReport,
)

T = {"threadId": "t1", "turnId": "u1"}


def told(*lines: dict[str, Any], dialect: str = "codex-app-server") -> list[Message]:
    return list(dragoman.read([json.dumps(line) for line in lines], dialect=dialect))


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": params}


_OPEN = [
    note("thread/started", thread={"id": "t1", "cwd": "/w"}),
    note("turn/started", threadId="t1", turn={"id": "u1", "status": "inProgress"}),
]


def after(*lines: dict[str, Any]) -> list[Message]:
    """What these lines make after a turn has begun, and before it is closed at the end."""
    messages = told(*_OPEN, *lines)
    assert [type(message) for message in messages[:2]] == [SessionStarted, TurnStarted]
    return [message for message in messages[2:] if message.line > 2]


# Notifications.


@pytest.mark.parametrize(
    ("method", "params", "level", "text"),
    [
        ("warning", {"threadId": "t1", "message": "careful"}, "warning", "careful"),
        ("configWarning", {"summary": "odd key", "details": "line 3"}, "warning", "odd key\nline 3"),
        ("deprecationNotice", {"summary": "old flag"}, "warning", "old flag"),
        ("model/rerouted", {**T, "fromModel": "a", "toModel": "b"}, "warning",
         "rerouted from a to b"),
        ("hook/completed",
         {**T, "run": {"eventName": "stop", "status": "blocked", "entries": [{"text": "no"}]}},
         "warning", "hook stop: blocked\nno"),
        ("item/autoApprovalReview/completed",
         {**T, "review": {"status": "approved", "riskLevel": "low"}}, "info",
         "automatic review: approved, risk low"),
        ("thread/name/updated", {"threadId": "t1", "threadName": "Fix"}, "info", "renamed: Fix"),
        ("thread/status/changed", {"threadId": "t1", "status": {"type": "systemError"}}, "error",
         "the session is in an error state"),
        ("thread/archived", {"threadId": "t1"}, "info", "archived"),
        ("mcpServer/startupStatus/updated", {"name": "db", "status": "failed", "error": "no such"},
         "warning", "MCP server db did not start: no such"),
        ("remoteControl/status/changed", {"status": "disabled"}, "info",
         "remote control: disabled"),
    ],
)  # fmt: skip
def test_what_is_no_part_of_the_conversation_is_a_notice(
    method: str, params: dict[str, Any], level: str, text: str
) -> None:
    notices = [each for each in after(note(method, **params)) if isinstance(each, Notice)]
    assert [(each.level, each.text) for each in notices] == [(level, text)]


def test_an_error_that_will_be_retried_is_a_notice_and_any_other_ends_the_turn() -> None:
    again = note("error", **T, willRetry=True, error={"message": "Reconnecting... 1/5"})
    final = note(
        "error", **T, willRetry=False, error={"message": "gone", "codexErrorInfo": "other"}
    )
    end = note("turn/completed", threadId="t1", turn={"id": "u1", "status": "failed"})
    notice, ended = after(again, final, end)
    assert isinstance(notice, Notice)
    assert notice.will_retry
    assert isinstance(ended, TurnEnded)
    assert ended.error is not None
    assert ended.error.message == "gone"


def test_a_plan_a_diff_tokens_and_limits() -> None:
    usage = {"inputTokens": 10, "cachedInputTokens": 4, "outputTokens": 2}
    messages = after(
        note("turn/plan/updated", **T, plan=[{"step": "look", "status": "inProgress"}]),
        note("turn/diff/updated", **T, diff="--- a\n+++ b\n"),
        note("turn/diff/updated", **T, diff="--- a\n+++ b\n"),
        note("thread/tokenUsage/updated", **T,
             tokenUsage={"total": usage, "last": usage, "modelContextWindow": 1000}),
        note("account/rateLimits/updated",
             rateLimits={"primary": {"usedPercent": 12.5, "windowDurationMins": 300}}),
    )  # fmt: skip
    plan, diff, report, limits = messages[:4]
    assert isinstance(plan, Plan)
    assert [(step.text, step.status) for step in plan.steps] == [("look", "in_progress")]
    assert diff.line == 4
    assert isinstance(report, UsageReport)
    assert report.context_window == 1000
    assert isinstance(limits, RateLimits)
    assert [window.used_percent for window in limits.windows] == [12.5]
    ended = messages[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.usage is not None
    assert ended.usage.total_tokens == 12


def test_deltas_of_a_turn_that_is_over_are_twins_of_the_item() -> None:
    messages = after(
        note("item/agentMessage/delta", **T, itemId="m", delta="He"),
        note("turn/completed", threadId="t1", turn={"id": "u1", "status": "interrupted"}),
        note("item/agentMessage/delta", **T, itemId="m", delta="llo"),
        note("item/completed", **T, item={"type": "agentMessage", "id": "m", "text": "Hello"}),
    )
    assert [each.text for each in messages if isinstance(each, Delta)] == ["He"]
    late = messages[-1]
    assert isinstance(late, Text)
    assert late.turn_id == "u1"


def test_a_turn_that_starts_while_another_runs_is_told_when_something_happens_in_it() -> None:
    messages = after(
        note("turn/started", threadId="t1", turn={"id": "u2"}),
        note("item/completed", **T, item={"type": "agentMessage", "id": "m", "text": "still u1"}),
        note("item/completed", threadId="t1", turnId="u2",
             item={"type": "agentMessage", "id": "n", "text": "now u2"}),
    )  # fmt: skip
    texts = [each for each in messages if isinstance(each, Text)]
    assert [(text.text, text.turn_id) for text in texts] == [("still u1", "u1"), ("now u2", "u2")]


def test_a_stream_that_is_joined_late_still_has_sessions_and_turns() -> None:
    item = {"type": "agentMessage", "id": "m", "text": "hello"}
    messages = told(note("item/completed", threadId="t9", turnId="u9", item=item))
    assert [type(each) for each in messages] == [SessionStarted, TurnStarted, Text, TurnEnded]
    assert {each.session_id for each in messages} == {"t9"}
    assert messages[1].turn_id == "u9"


def test_a_closed_thread_ends_the_session() -> None:
    messages = after(note("thread/closed", threadId="t1"))
    assert [each.reason for each in messages if isinstance(each, SessionEnded)] == ["closed"]


def test_a_notification_that_is_new_to_us_is_kept() -> None:
    kept = after(note("thread/levitated", threadId="t1", height=3))[0]
    assert isinstance(kept, Unknown)
    assert kept.native_type == "thread/levitated"


def test_time_comes_from_the_server_if_it_is_a_time() -> None:
    line = {**_OPEN[0], "emittedAtMs": 1_794_782_424_416}
    assert str(told(line)[0].at) == "2026-11-15 22:40:24.416000+00:00"
    assert told({**_OPEN[0], "emittedAtMs": 10**30})[0].at is None


# Requests of the server, and answers to them.


def _ask(method: str, request_id: int = 7, **params: Any) -> dict[str, Any]:
    return {"id": request_id, "method": method, "params": {**T, **params}}


@pytest.mark.parametrize(
    ("request_line", "kind", "summary", "answer", "decision"),
    [
        (_ask("item/commandExecution/requestApproval", itemId="c", command="rm x"),
         "command", "rm x", {"decision": "accept"}, "allow"),
        (_ask("item/commandExecution/requestApproval", itemId="c", command="rm x"),
         "command", "rm x", {"decision": {"acceptWithExecpolicyAmendment": {}}}, "allow_always"),
        (_ask("item/fileChange/requestApproval", itemId="c", reason="why"),
         "edit", "", {"decision": "acceptForSession"}, "allow_for_session"),
        (_ask("item/permissions/requestApproval", itemId="c", reason="net", permissions={"n": 1}),
         "permissions", "net", {"permissions": {}}, "deny"),
        (_ask("item/tool/requestUserInput", itemId="c",
              questions=[{"id": "q", "question": "Which?"}]),
         "question", "Which?", {"answers": {"q": {"answers": ["a"]}}}, "answered"),
        (_ask("mcpServer/elicitation/request", serverName="db", message="Log in?"),
         "elicitation", "Log in?", {"action": "cancel"}, "cancel"),
    ],
)  # fmt: skip
def test_a_question_and_its_answer_in_our_words(
    request_line: dict[str, Any], kind: str, summary: str, answer: dict[str, Any], decision: str
) -> None:
    messages = after(request_line, {"id": 7, "result": answer})
    asked = next(each for each in messages if isinstance(each, ApprovalRequested))
    settled = next(each for each in messages if isinstance(each, ApprovalSettled))
    assert (asked.kind, asked.summary) == (kind, summary)
    assert (settled.approval_id, settled.decision) == (asked.approval_id, decision)


def test_an_mcp_call_that_asks_names_its_tool() -> None:
    question = _ask(
        "mcpServer/elicitation/request",
        serverName="tiny",
        message='Allow the tiny MCP server to run tool "add"?',
        _meta={"codex_approval_kind": "mcp_tool_call", "tool_params": {"a": 1}},
    )
    asked = after(question)[0]
    assert isinstance(asked, ApprovalRequested)
    assert (asked.kind, asked.tool) == ("tool", "mcp__tiny__add")
    assert asked.detail == {"server": "tiny", "arguments": {"a": 1}}
    assert asked.choices == ["allow", "deny", "cancel"]


def test_a_question_that_the_client_cannot_answer_was_denied() -> None:
    question = _ask("item/commandExecution/requestApproval", itemId="c", command="ls")
    messages = after(question, {"id": 7, "error": {"code": -32601, "message": "no such method"}})
    settled = [each for each in messages if isinstance(each, ApprovalSettled)]
    assert [each.decision for each in settled] == ["deny"]


def test_the_server_may_settle_its_own_question() -> None:
    question = _ask("item/commandExecution/requestApproval", itemId="c", command="ls")
    resolved = note("serverRequest/resolved", threadId="t1", requestId=7)
    messages = after(question, resolved, resolved)
    settled = [each for each in messages if isinstance(each, ApprovalSettled)]
    assert [each.decision for each in settled] == ["resolved"]


def test_a_tool_of_the_client_is_a_call_and_its_answer_the_result() -> None:
    call = _ask("item/tool/call", callId="c9", tool="lookup", namespace="shop", arguments={"id": 1})
    answer = {"contentItems": [{"type": "inputText", "text": "found"}], "success": False}
    made, result = after(call, {"id": 7, "result": answer})[:2]
    assert isinstance(made, ToolCall)
    assert (made.tool, made.input) == ("shop.lookup", {"id": 1})
    assert isinstance(result, ToolResult)
    assert (result.output, result.is_error) == ("found", True)


def test_housekeeping_between_server_and_client_does_not_show_secrets() -> None:
    messages = after(_ask("account/chatgptAuthTokens/refresh", previousAccountId="secret-7"))
    assert [type(each) for each in messages[:1]] == [Notice]
    assert not [each for each in messages if b"secret-7" in dragoman.encode(each)]


def test_a_question_of_a_new_kind_is_kept() -> None:
    line = {"dir": "recv", "t": 0.1, "msg": _ask("item/levitation/requestApproval")}
    kept = after(line)[0]
    assert isinstance(kept, Unknown)
    assert kept.native_type == "item/levitation/requestApproval"


# What the client asks.


def test_ids_of_both_sides_are_kept_apart() -> None:
    """Both count from 0: an answer belongs to the side that did not send it."""
    lines: list[dict[str, Any]] = [
        {"dir": "send", "t": 0, "msg": {"id": 7, "method": "thread/read", "params": {}}},
        {"dir": "recv", "t": 1, "msg": _ask("item/commandExecution/requestApproval", itemId="c")},
        {"dir": "recv", "t": 2, "msg": {"id": 7, "result": {"items": [1]}}},
        {"dir": "send", "t": 3, "msg": {"id": 7, "result": {"decision": "decline"}}},
    ]
    messages = after(*lines)
    assert [each.native_type for each in messages if isinstance(each, Unknown)] == [
        "answer to thread/read"
    ]
    settled = [each for each in messages if isinstance(each, ApprovalSettled)]
    assert [each.decision for each in settled] == ["deny"]


def test_a_refused_prompt_is_not_a_prompt() -> None:
    messages = told(
        {"id": 1, "method": "newConversation", "params": {}},
        {"id": 1, "result": {"conversationId": "c1", "model": "gpt-5"}},
        {"id": 2, "method": "sendUserMessage",
         "params": {"conversationId": "c1", "items": [{"type": "text", "data": {"text": "hi"}}]}},
        {"id": 2, "error": {"code": -32600, "message": "conversation not found"}},
        dialect="codex-app-server-v1",
    )  # fmt: skip
    assert [type(each) for each in messages] == [SessionStarted, Notice, Notice]
    notices = [(each.text, each.line) for each in messages if isinstance(each, Notice)]
    assert notices == [("not accepted: hi", 3), ("sendUserMessage: conversation not found", 4)]


def test_a_prompt_without_an_event_of_its_own_is_told_from_the_request() -> None:
    messages = told(
        {"id": 1, "method": "newConversation", "params": {}},
        {"id": 1, "result": {"conversationId": "c1", "model": "gpt-5"}},
        {"id": 2, "method": "sendUserMessage",
         "params": {"conversationId": "c1", "items": [{"type": "text", "data": {"text": "hi"}}]}},
        {"id": 2, "result": {}},
        note("codex/event/task_started", id="0", conversationId="c1",
             msg={"type": "task_started"}),
        note("codex/event/agent_message", id="0", conversationId="c1",
             msg={"type": "agent_message", "message": "hello"}),
        note("codex/event/task_complete", id="0", conversationId="c1",
             msg={"type": "task_complete", "last_agent_message": "hello"}),
        dialect="codex-app-server-v1",
    )  # fmt: skip
    said = [each.text for each in messages if isinstance(each, Prompt | Text)]
    assert said == ["hi", "hello"]


def test_an_item_of_the_releases_that_named_its_type_outside_of_it() -> None:
    item = {"AgentMessage": {"id": "m", "content": [{"Text": {"text": "hello"}}]}}
    msg = {"type": "item_completed", "thread_id": "t1", "turn_id": "u1", "item": item}
    messages = after(note("codex/event/item_completed", id="u1", conversationId="t1", msg=msg))
    assert [each.text for each in messages if isinstance(each, Text)] == ["hello"]


def test_events_that_a_release_sends_twice_are_told_once() -> None:
    msg = {"type": "agent_message", "message": "hello"}
    messages = told(
        note("codex/event/agent_message", id="0", conversationId="c1", msg=msg),
        note("agent_message", id="0", conversationId="c1", msg=msg),
        dialect="codex-app-server-v1",
    )
    assert len([each for each in messages if isinstance(each, Text)]) == 1


def test_the_answer_to_an_mcp_tool_call_ends_a_turn_that_nothing_else_ends() -> None:
    def event(kind: str, **fields: Any) -> dict[str, Any]:
        params = {"_meta": {"requestId": 1}, "id": "1", "msg": {"type": kind, **fields}}
        return {"jsonrpc": "2.0", "method": "codex/event", "params": params}

    messages = told(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
         "params": {"name": "codex", "arguments": {"prompt": "do it"}}},
        event("task_started"),
        event("agent_message", message="ok"),
        {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "ok"}]}},
        dialect="codex-mcp-server",
    )  # fmt: skip
    assert [each.text for each in messages if isinstance(each, Prompt | Text)] == ["do it", "ok"]
    ended = messages[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.line == 4


def test_an_mcp_tool_call_that_fails_at_once_is_a_notice() -> None:
    messages = told(
        {
            "id": 1,
            "method": "tools/call",
            "params": {"name": "codex", "arguments": {"prompt": "x"}},
        },
        {"id": 1, "result": {"content": [{"type": "text", "text": "no model"}], "isError": True}},
        dialect="codex-mcp-server",
    )
    notices = [each.text for each in messages if isinstance(each, Notice)]
    assert notices == ["not accepted: x", "no model"]
    assert not [each for each in messages if isinstance(each, Prompt)]


# Turns that are undone.


def _turns(*ids: str) -> list[dict[str, Any]]:
    return [
        note(f"turn/{state}", threadId="t1", turn={"id": name, "status": status})
        for name in ids
        for state, status in (("started", "inProgress"), ("completed", "completed"))
    ]


def _undone(messages: list[Message]) -> list[tuple[str, int]]:
    return [(each.text, each.undone_turns) for each in messages if isinstance(each, Notice)]


def test_a_revert_says_how_many_turns_it_undoes_each_turn_once() -> None:
    def revert(number: int, before: str) -> list[dict[str, Any]]:
        params = {"threadId": "t1", "beforeTurnId": before}
        return [
            {"id": number, "method": "thread/revert", "params": params},
            note("thread/reverted", threadId="t1"),
        ]

    messages = told(
        note("thread/started", thread={"id": "t1"}),
        *_turns("a", "b", "c"),
        *revert(1, "b"),
        *_turns("d"),
        *revert(2, "a"),
    )

    assert _undone(messages) == [
        ("reverted to an earlier turn", 2),
        ("reverted to an earlier turn", 2),
    ]


def test_a_revert_whose_request_is_not_in_the_stream_does_not_say_how_far() -> None:
    messages = told(
        note("thread/started", thread={"id": "t1"}),
        *_turns("a"),
        note("thread/reverted", threadId="t1"),
    )

    assert _undone(messages) == [("reverted to an earlier turn", 0)]


@pytest.mark.parametrize("has_event", [True, False])
def test_a_rollback_is_emitted_once_whether_or_not_an_event_reports_it_too(
    has_event: bool,
) -> None:
    event = note(
        "codex/event/thread_rolled_back",
        conversationId="t1",
        msg={"type": "thread_rolled_back", "num_turns": 2},
    )
    messages = told(
        note("thread/started", thread={"id": "t1"}),
        *_turns("a", "b"),
        {"id": 7, "method": "thread/rollback", "params": {"threadId": "t1", "numTurns": 2}},
        *([event] if has_event else []),
        {"id": 7, "result": {"thread": {"id": "t1"}}},
    )

    assert _undone(messages) == [("the last 2 turns were rolled back", 2)]


def test_a_rollback_that_is_refused_undoes_nothing() -> None:
    messages = told(
        note("thread/started", thread={"id": "t1"}),
        *_turns("a"),
        {"id": 7, "method": "thread/rollback", "params": {"threadId": "t1", "numTurns": 1}},
        {"id": 7, "error": {"code": -1, "message": "no such method"}},
    )

    assert [undone for _, undone in _undone(messages)] == [0]
