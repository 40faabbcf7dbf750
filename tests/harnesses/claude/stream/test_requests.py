"""Requests of Claude in its stream, the answers to them, and prompts that wait in its queue."""

from __future__ import annotations

from typing import Any

from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Notice,
    Prompt,
    ToolResult,
)
from support.claude.lines import (
    SID,
    assistant,
    call,
    init,
    output,
    read_stream,
    received,
    result,
    sent,
    text,
    user,
)
from support.messages import of


def test_a_question_shows_the_whole_command_and_what_always_would_store() -> None:
    asked = {
        "type": "control_request",
        "request_id": "r1",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "Bash",
            "input": {"command": "npm run build && ls"},
            "tool_use_id": "c1",
            "permission_suggestions": [
                {
                    "type": "addRules",
                    "rules": [{"toolName": "Bash", "ruleContent": "npm run build:*"}],
                    "behavior": "allow",
                    "destination": "localSettings",
                },
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            ],
        },
    }
    answer = {
        "type": "control_response",
        "response": {
            "subtype": "success",
            "request_id": "r1",
            "response": {"behavior": "deny", "message": "no", "interrupt": True},
        },
    }
    messages = read_stream(
        received(init()),
        received(assistant("m1", call("c1", "Bash", command="npm run build && ls"))),
        received(asked),
        sent(answer),
    )

    (request,) = of(ApprovalRequested, messages)
    assert request.command == request.summary == "npm run build && ls"
    assert (request.kind, request.cwd, request.approval_id) == ("command", "/w", "r1")
    assert request.choices == ["allow", "allow_for_session", "allow_always", "deny", "cancel"]
    assert request.always.prefix == ["npm", "run", "build"]
    assert request.always.stored_in == ".claude/settings.local.json"
    (settled,) = of(ApprovalSettled, messages)
    assert settled.decision == "cancel"


def test_a_question_that_a_plain_stream_does_not_answer_is_settled_by_the_result() -> None:
    asked = {
        "type": "control_request",
        "request_id": "r1",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "c1"},
    }
    denied = [{"id": "c1", "permission_decision": {"decision": "reject"}}]
    messages = read_stream(
        init(),
        assistant("m1", call("c1", "Bash", command="ls")),
        asked,
        user([output("c1", "No", is_error=True)], tool_result_meta=denied),
    )

    assert [each.decision for each in of(ApprovalSettled, messages)] == ["deny"]
    assert [each.status for each in of(ToolResult, messages)] == ["declined"]


def test_a_question_with_choices_lists_them() -> None:
    questions = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]
    asked = {
        "type": "control_request",
        "request_id": "r1",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "AskUserQuestion",
            "input": {"questions": questions},
        },
    }
    answer = {"behavior": "allow", "updatedInput": {"answers": {"Which?": "A"}}}
    response = {"subtype": "success", "request_id": "r1", "response": answer}
    messages = read_stream(
        received(init()),
        received(asked),
        sent({"type": "control_response", "response": response}),
    )

    (request,) = of(ApprovalRequested, messages)
    assert (request.kind, request.summary, request.choices) == ("question", "Which?", ["A", "B"])
    assert [each.decision for each in of(ApprovalSettled, messages)] == ["answered"]


def test_a_withdrawn_question_is_settled() -> None:
    asked = {
        "type": "control_request",
        "request_id": "r1",
        "request": {"subtype": "can_use_tool", "tool_name": "Write"},
    }
    messages = read_stream(init(), asked, {"type": "control_cancel_request", "request_id": "r1"})

    assert [each.decision for each in of(ApprovalSettled, messages)] == ["withdrawn"]


def test_prompts_that_were_sent_are_in_the_turns_that_took_them_up() -> None:
    messages = read_stream(
        sent(user("one")),
        received(init()),
        sent(user("two", uuid="u2")),
        received(assistant("m1", call("c1", "Bash", command="ls"))),
        received(user([output("c1", "x")])),
        received({"type": "command_lifecycle", "command_uuid": "u2", "state": "started"}),
        received(assistant("m2", text("both"))),
        sent(user("three")),
        received(result(result="both")),
        received(init()),
        received(assistant("m3", text("third"))),
        received(result(result="third")),
    )

    assert [(each.text, each.turn_id, each.line) for each in of(Prompt, messages)] == [
        ("one", "turn-1", 1),
        ("two", "turn-1", 3),
        ("three", "turn-2", 8),
    ]


def test_an_echo_of_a_prompt_is_no_second_prompt() -> None:
    messages = read_stream(
        sent(user("one")),
        received(init()),
        received(user("one", isReplay=True)),
        received(result()),
    )

    assert [each.text for each in of(Prompt, messages)] == ["one"]


def test_a_prompt_that_no_turn_took_up_is_not_lost() -> None:
    messages = read_stream(sent(user("hello")), received(result(is_error=True, errors=["no"])))

    assert [each.text for each in of(Prompt, messages)] == ["hello"]


def test_a_compaction_carries_its_summary() -> None:
    messages = read_stream(
        init(),
        {"type": "system", "subtype": "compact_boundary", "session_id": SID},
        user("This session is being continued", isSynthetic=True),
        user("<local-command-stdout>Compacted </local-command-stdout>", isReplay=True),
        result(),
    )

    assert [each.summary for each in of(Compacted, messages)] == ["This session is being continued"]
    assert [each.text for each in of(Notice, messages)] == ["Compacted"]


def test_a_prompt_that_was_cancelled_in_the_queue_is_in_no_turn() -> None:
    messages = read_stream(
        sent(user("one")),
        received(init()),
        sent(user("two", uuid="u2")),
        received({"type": "command_lifecycle", "command_uuid": "u2", "state": "queued"}),
        received({"type": "command_lifecycle", "command_uuid": "u2", "state": "cancelled"}),
        received(result()),
    )

    assert [each.text for each in of(Prompt, messages)] == ["one"]


def test_an_edit_that_is_asked_for_names_its_file() -> None:
    asked = {
        "type": "control_request",
        "request_id": "r1",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "Write",
            "input": {"file_path": "/w/a", "content": "x"},
        },
    }
    (request,) = of(ApprovalRequested, read_stream(init(), asked))

    assert (request.kind, request.summary) == ("edit", "/w/a")
    assert request.detail["changes"] == [{"path": "/w/a", "kind": "add", "diff": "x"}]


def test_what_an_answer_adds_to_its_decision_is_emitted() -> None:
    rule = {"type": "addRules", "rules": [{"toolName": "Bash"}], "destination": "session"}
    answers: list[dict[str, Any]] = [
        {"behavior": "deny", "message": "Stop now", "interrupt": True},
        {"behavior": "allow", "updatedInput": {"command": "ls -l"}},
        {"behavior": "allow", "updatedInput": {"command": "ls"}, "updatedPermissions": [rule]},
    ]
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
    lines: list[Any] = [init()]
    for number, answer in enumerate(answers):
        name = f"r{number}"
        response = {"subtype": "success", "request_id": name, "response": answer}
        lines += [
            received({"type": "control_request", "request_id": name, "request": request}),
            sent({"type": "control_response", "response": response}),
        ]

    settled = of(ApprovalSettled, read_stream(*lines))

    assert [each.decision for each in settled] == ["cancel", "allow", "allow_for_session"]
    assert [each.detail for each in settled] == [
        {"message": "Stop now"},
        {"input": {"command": "ls -l"}},
        {"rules": [rule]},
    ]
