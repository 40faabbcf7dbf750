from __future__ import annotations

from typing import Any

from dragoman.model.messages import (
    Context,
    Delta,
    Notice,
    Plan,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage
from support.claude.lines import (
    SID,
    USAGE,
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

TURN = Usage(60, 30, 20, 40, 0, 5)


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "stream_event", "session_id": SID, "event": {"type": kind, **more}}


def test_two_texts_under_one_message_id_are_both_emitted() -> None:
    messages = read_stream(
        init(), assistant("m1", text("one")), assistant("m1", text("two")), result(result="two")
    )

    told = [(each.text, each.message_id, each.item_id) for each in of(Text, messages)]
    assert told == [("one", "m1", "m1/0"), ("two", "m1", "m1/1")]


def test_the_same_text_twice_in_one_response_is_emitted_twice() -> None:
    messages = read_stream(init(), assistant("m1", text("ok")), assistant("m1", text("ok")))

    assert [each.text for each in of(Text, messages)] == ["ok", "ok"]


def test_an_init_for_each_turn_starts_one_session_and_two_turns() -> None:
    lines = [init(), assistant("m1", text("one")), result(), init(), result()]
    messages = read_stream(*lines)

    assert len(of(SessionStarted, messages)) == 1
    assert len(of(TurnStarted, messages)) == 2
    assert [each.outcome for each in of(TurnEnded, messages)] == ["completed", "completed"]


def test_another_model_is_another_session_started() -> None:
    messages = read_stream(init(), result(), init(model="other"), result())

    assert [each.model for each in of(SessionStarted, messages)] == ["m", "other"]


def test_is_error_decides_and_not_the_subtype() -> None:
    refused = assistant(
        "x",
        text("Invalid API key"),
        error="authentication_failed",
        is_api_error_message=True,
        api_error_status=401,
    )
    messages = read_stream(init(), refused, result(is_error=True, result="Invalid API key"))

    (end,) = of(TurnEnded, messages)
    assert (end.outcome, end.error.kind, end.error.retryable) == ("failed", "response_error", False)
    assert end.error.native == "authentication_failed"
    assert of(Text, messages) == []


def test_an_overloaded_service_can_be_asked_again() -> None:
    line = result(is_error=True, result="API Error: 529", api_error_status=529)
    (end,) = of(TurnEnded, read_stream(init(), line))

    assert end.error.retryable


def test_an_aborted_turn_is_interrupted() -> None:
    messages = read_stream(
        init(),
        assistant("m1", call("c1", "Bash", command="ls")),
        user([{"type": "text", "text": "[Request interrupted by user]"}]),
        result(is_error=True, subtype="error_during_execution", terminal_reason="aborted_tools"),
    )

    (end,) = of(TurnEnded, messages)
    assert (end.outcome, end.error) == ("interrupted", None)
    assert [each.status for each in of(ToolResult, messages)] == ["abandoned"]


def test_a_limit_of_the_run_fails_the_turn() -> None:
    line = result(is_error=True, subtype="error_max_turns", errors=["Reached 3 turns"])
    del line["result"]
    (end,) = of(TurnEnded, read_stream(init(), line))

    assert (end.outcome, end.error.native, end.error.message) == (
        "failed",
        "error_max_turns",
        "Reached 3 turns",
    )


def test_two_results_can_follow_two_turns_of_which_the_first_was_overtaken() -> None:
    messages = read_stream(
        init(),
        assistant("m1", text("one")),
        init(),
        assistant("m2", text("two")),
        result(result="one"),
        result(result="two"),
    )

    ends = of(TurnEnded, messages)
    assert [(each.turn_id, each.outcome) for each in ends] == [
        ("turn-1", "completed"),
        ("turn-2", "completed"),
    ]
    usages = [each for each in of(UsageReport, messages) if each.last]
    assert [(each.turn_id, each.response_id, each.last) for each in usages] == [
        ("turn-1", "m1", TURN),
        ("turn-2", "m2", TURN),
    ]
    assert ends[1].usage == TURN


def test_tokens_include_the_cache_and_are_counted_once_for_each_response() -> None:
    messages = read_stream(
        init(),
        event("message_start", message={"id": "m1", "model": "m", "usage": USAGE}),
        assistant("m1", text("one")),
        assistant("m1", call("c1", "Read", file_path="/f")),
        event("message_delta", delta={"stop_reason": "tool_use"}, usage=USAGE),
        event("message_stop"),
        user([output("c1", "x")]),
        result(),
    )

    reports = of(UsageReport, messages)
    assert [(each.response_id, each.model, each.last) for each in reports if each.last] == [
        ("m1", "m", TURN)
    ]
    assert [each.cost for each in reports if each.cost] == [0.5]
    (end,) = of(TurnEnded, messages)
    assert end.usage == TURN


def test_without_partial_messages_the_result_says_what_the_turn_took() -> None:
    messages = read_stream(init(), assistant("m1", text("a")), assistant("m2", text("b")), result())

    (report,) = [each for each in of(UsageReport, messages) if each.last]
    assert (report.response_id, report.last) == (None, TURN)


def test_partial_texts_are_deltas_and_the_whole_follows_once() -> None:
    messages = read_stream(
        init(),
        event("message_start", message={"id": "m1"}),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "He"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "llo"}),
        assistant("m1", text("Hello")),
        event("content_block_stop", index=0),
        event("content_block_delta", index=1, delta={"type": "text_delta", "text": "Bye"}),
        assistant("m1", text("Bye")),
        result(result="Bye"),
    )

    assert [(each.text, each.message_id) for each in of(Delta, messages)] == [
        ("He", "m1"),
        ("llo", "m1"),
        ("Bye", "m1"),
    ]
    assert [each.text for each in of(Text, messages)] == ["Hello", "Bye"]


def test_agent_is_an_alias_of_task_and_its_work_is_a_session_of_its_own() -> None:
    mine: dict[str, Any] = {"parent_tool_use_id": "c1", "agent_id": "a1"}
    messages = read_stream(
        init(),
        assistant("m1", call("c1", "Agent", prompt="find it")),
        {
            "type": "system",
            "subtype": "task_started",
            "task_id": "a1",
            "tool_use_id": "c1",
            "task_type": "local_agent",
            "prompt": "find it",
            "session_id": SID,
        },
        user([text("find it")], **mine),
        assistant("m2", text("found"), **mine),
        {
            "type": "system",
            "subtype": "task_notification",
            "task_id": "a1",
            "status": "completed",
            "summary": "found",
            "session_id": SID,
        },
        user([output("c1", "found")], tool_use_result={"status": "completed", "agentId": "a1"}),
        assistant("m3", text("done")),
        result(result="done"),
    )

    (task,) = of(ToolCall, messages)
    assert (task.tool, task.native_tool, task.session_id) == ("Task", "Agent", SID)
    agents = [each for each in of(SessionStarted, messages) if each.session_id == "a1"]
    assert (agents[0].parent_session_id, agents[0].parent_call_id) == (SID, "c1")
    own = [each for each in messages if each.session_id == "a1"]
    assert [each.text for each in of(Prompt, own)] == ["find it"]
    assert [each.text for each in of(Text, own)] == ["found"]
    assert [each.outcome for each in of(TurnEnded, own)] == ["completed"]


def test_what_the_program_tells_the_model_is_context() -> None:
    messages = read_stream(init(), user([text("Continue.")], isSynthetic=True), result())

    assert [each.text for each in of(Context, messages)] == ["Continue."]
    assert of(Prompt, messages) == []


def test_a_retry_is_a_notice_that_says_so() -> None:
    retry = {
        "type": "system",
        "subtype": "api_retry",
        "attempt": 1,
        "max_retries": 2,
        "retry_delay_ms": 566,
        "error_status": 429,
        "error": "rate_limit",
        "session_id": SID,
    }
    (notice,) = of(Notice, read_stream(init(), retry))

    assert notice.will_retry
    assert notice.text == "rate_limit (429): attempt 1 of 2 follows in 0.6 s"


def test_a_plan_is_stated_once_its_call_has_worked() -> None:
    todos = [{"content": "a", "status": "in_progress", "activeForm": "Doing a"}]
    messages = read_stream(
        init(),
        assistant("m1", call("c1", "TodoWrite", todos=todos)),
        user([output("c1", "no such tool", is_error=True)]),
        assistant("m2", call("c2", "TaskCreate", subject="one")),
        user([output("c2", "ok")], tool_use_result={"task": {"id": "1", "subject": "one"}}),
        assistant("m3", call("c3", "TaskUpdate", taskId="1", status="completed")),
        user([output("c3", "ok")]),
    )

    plans = [[(step.text, step.status) for step in plan.steps] for plan in of(Plan, messages)]
    assert plans == [[("one", "pending")], [("one", "completed")]]


def test_the_exit_code_of_a_command_is_read() -> None:
    messages = read_stream(
        init(),
        assistant("m1", call("c1", "Bash", command="exit 3")),
        user([output("c1", "Exit code 3\nbad", is_error=True)]),
    )

    (ended,) = of(ToolResult, messages)
    assert (ended.exit_code, ended.is_error, ended.status) == (3, True, "failed")


def test_a_result_alone_is_a_whole_turn() -> None:
    messages = read_stream(result(result="plain text", modelUsage={"m": {}}))

    assert [each.model for each in of(SessionStarted, messages)] == ["m"]
    assert [each.text for each in of(Text, messages)] == ["plain text"]
    (end,) = of(TurnEnded, messages)
    assert (end.outcome, end.usage) == ("completed", TURN)


def test_a_turn_is_named_after_its_prompt() -> None:
    messages = read_stream(sent(user("one", uuid="u1")), received(init()), received(result()))

    assert [each.turn_id for each in of(TurnStarted, messages)] == ["u1"]
