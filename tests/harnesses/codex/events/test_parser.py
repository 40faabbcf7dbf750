from __future__ import annotations

import json
from typing import Any

import dragoman
from dragoman import (
    ApprovalSettled,
    Message,
    Prompt,
    SessionStarted,
    Text,
    ToolResult,
    TurnEnded,
    Unknown,
)


def told(*lines: dict[str, Any], dialect: str = "codex-proto") -> list[Message]:
    return list(dragoman.read([json.dumps(line) for line in lines], dialect=dialect))


def event(kind: str, turn: str = "1", **fields: Any) -> dict[str, Any]:
    return {"id": turn, "msg": {"type": kind, **fields}}


def test_the_header_lines_of_exec_name_the_model_and_ask_the_question() -> None:
    messages = told(
        {"workdir": "/w", "model": "gpt-5", "provider": "x", "sandbox": "read-only"},
        {"prompt": "do it"},
        event("task_started"),
        event("agent_message", message="done"),
        event("task_complete", last_agent_message="done"),
        dialect="codex-exec-old",
    )
    began = messages[0]
    assert isinstance(began, SessionStarted)
    assert (began.model, began.cwd) == ("gpt-5", "/w")
    prompts = [message for message in messages if isinstance(message, Prompt)]
    assert [(prompt.text, prompt.turn_id) for prompt in prompts] == [("do it", "1")]
    assert [message.text for message in messages if isinstance(message, Text)] == ["done"]


def test_what_the_client_submits_is_told_where_it_is_part_of_the_conversation() -> None:
    messages = told(
        {"id": "1", "op": {"type": "user_input", "items": [{"type": "text", "text": "hi"}]}},
        event("task_started"),
        event("exec_approval_request", call_id="c", command=["ls"], cwd="/w"),
        {"id": "2", "op": {"type": "exec_approval", "id": "1", "decision": "denied"}},
        event("turn_aborted", reason="interrupted"),
        {"id": "3", "op": {"type": "shutdown"}},
        event("shutdown_complete", turn="3"),
    )
    assert [message.text for message in messages if isinstance(message, Prompt)] == ["hi"]
    settled = [message for message in messages if isinstance(message, ApprovalSettled)]
    assert [(each.approval_id, each.decision) for each in settled] == [("c", "deny")]
    results = [message for message in messages if isinstance(message, ToolResult)]
    assert [(each.call_id, each.status) for each in results] == [("c", "declined")]


def test_a_submission_of_a_new_kind_is_kept() -> None:
    messages = told({"id": "1", "op": {"type": "levitate"}})
    assert [m.native_type for m in messages if isinstance(m, Unknown)] == ["op levitate"]


def test_an_event_of_a_new_kind_is_kept() -> None:
    messages = told(event("task_started"), event("dreamt", of="sheep"))
    assert [m.native_type for m in messages if isinstance(m, Unknown)] == ["dreamt"]


def test_the_last_words_of_a_turn_are_told_if_nobody_else_told_them() -> None:
    messages = told(event("task_started"), event("task_complete", last_agent_message="bye"))
    assert [message.text for message in messages if isinstance(message, Text)] == ["bye"]


def test_old_releases_say_in_words_that_a_turn_was_interrupted() -> None:
    messages = told(event("task_started"), event("error", message=" Turn interrupted"))
    ends = [message for message in messages if isinstance(message, TurnEnded)]
    assert [end.outcome for end in ends] == ["interrupted"]
