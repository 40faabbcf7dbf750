"""What the lines of Qwen Code's stream become."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.harnesses.qwen.stream.parser import QwenStreamParser, has_counts
from dragoman.model.messages import (
    Delta,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    UsageReport,
)
from support.qwen import (
    NO_COUNTS,
    SID,
    answer,
    failed,
    init,
    of,
    read_stream,
    result,
    said,
    system,
    text,
    tool_use,
)


def test_a_turn_from_init_to_result() -> None:
    messages = read_stream(init(), said(text("Hi.")), result("Hi."))

    (started,) = of(SessionStarted, messages)
    assert (started.session_id, started.version, started.model) == (SID, "0.24.4", "m")
    assert [each.text for each in of(Text, messages)] == ["Hi."]
    (ended,) = of(TurnEnded, messages)
    assert (ended.outcome, ended.usage.input_tokens, ended.usage.output_tokens) == (
        "completed",
        100,
        20,
    )


def test_the_counts_of_a_result_are_those_of_the_session_and_not_counted_again() -> None:
    more: dict[str, Any] = {
        "usage": {"input_tokens": 9000, "output_tokens": 900, "cache_read_input_tokens": 0}
    }
    messages = read_stream(init(), said(text("One.")), result(**more), init(), result(**more))

    assert [each.usage and each.usage.input_tokens for each in of(TurnEnded, messages)] == [
        100,
        None,
    ]
    assert [each.response_id for each in of(UsageReport, messages)] == ["m1"]


def test_parts_of_one_response_are_counted_once() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    messages = read_stream(
        init(),
        said(thought, name="a", usage=NO_COUNTS),
        said(text("Hi."), name="b", usage=NO_COUNTS),
        said(tool_use("read_file", {"absolute_path": "/w/x"}), name="c"),
        answer("words"),
        result(),
    )

    assert [each.last.input_tokens for each in of(UsageReport, messages)] == [100]


def test_thoughts_beside_the_output_are_part_of_it() -> None:
    counts = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 150}
    (report,) = of(UsageReport, read_stream(init(), said(text("Hi."), usage=counts), result()))

    assert report.last.output_tokens == 50


def test_a_call_through_another_tool_is_the_call_of_that_tool() -> None:
    wrapped = tool_use("tool_call", {"name": "mcp__tickets__find", "arguments": {"number": "T-7"}})
    messages = read_stream(init(), said(wrapped), answer("door"), result())

    (call,) = of(ToolCall, messages)
    assert (call.tool, call.native_tool, call.input) == (
        "mcp__tickets__find",
        "mcp__tickets__find",
        {"number": "T-7"},
    )


def test_a_command_that_fails_is_an_error_with_its_exit_code() -> None:
    output = (
        "Command: x\nDirectory: (root)\nOutput: bad\nError: (none)\nExit Code: 3\nSignal: (none)"
    )
    command = tool_use("run_shell_command", {"command": "x"})
    (bad,) = of(
        ToolResult, read_stream(init(), said(command), answer(output, is_error=True), result())
    )
    (good,) = of(ToolResult, read_stream(init(), said(command), answer("fine"), result()))
    begun = answer("Background shell bg_1 started (pid 7).")
    (background,) = of(ToolResult, read_stream(init(), said(command), begun, result()))

    assert (bad.output, bad.is_error, bad.exit_code, bad.status) == ("bad", True, 3, "failed")
    assert (good.output, good.exit_code) == ("fine", 0)
    assert background.exit_code is None


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("[Operation Cancelled] Reason: Ask me tomorrow.", "declined"),
        ("[Operation Cancelled] Reason: Error: Request aborted", "failed"),
        (
            "[Operation Cancelled] Reason: The tool had already completed; its output was dis…",
            "failed",
        ),
        (
            'Qwen Code requires permission to use "edit", but that permission was declined. Rule: x',
            "declined",
        ),
        ('Tool "edit" was canceled by the user.', "declined"),
        ("No such file", "failed"),
    ],
)
def test_a_call_that_was_denied_is_not_one_that_failed(output: str, status: str) -> None:
    call = tool_use("edit", {"file_path": "/w/x", "old_string": "a", "new_string": "b"})
    (given,) = of(
        ToolResult, read_stream(init(), said(call), answer(output, is_error=True), result())
    )

    assert (given.status, given.is_error) == (status, True)


def test_a_request_that_failed_is_the_turns_error_and_no_text() -> None:
    line = said(text("Half a[API Error: 429 Rate limit reached.]"), usage=NO_COUNTS)
    messages = read_stream(init(), line, failed("[API Error: 429 Rate limit reached.]"))

    assert [each.text for each in of(Text, messages)] == ["Half a"]
    (ended,) = of(TurnEnded, messages)
    assert (ended.outcome, ended.error.kind, ended.error.retryable) == (
        "failed",
        "turn_failed",
        True,
    )
    assert (ended.error.message, ended.error.native) == ("429 Rate limit reached.", "HTTP 429")


def test_what_a_model_says_about_errors_is_a_text() -> None:
    messages = read_stream(init(), said(text("Look for [API Error: 500 x]")), result())

    assert [each.text for each in of(Text, messages)] == ["Look for [API Error: 500 x]"]
    assert [each.outcome for each in of(TurnEnded, messages)] == ["completed"]


def test_an_error_that_no_line_has_said_before_is_the_results() -> None:
    (ended,) = of(TurnEnded, read_stream(init(), failed("Reached the maximum session turns")))

    assert (ended.error.message, ended.error.retryable) == (
        "Reached the maximum session turns",
        False,
    )


def test_an_interrupted_turn_is_not_a_failed_one() -> None:
    messages = read_stream(init(), failed("Operation cancelled."))

    assert [(each.outcome, each.error) for each in of(TurnEnded, messages)] == [
        ("interrupted", None)
    ]


_AGENT = tool_use("agent", {"prompt": "Count.", "subagent_type": "Explore"}, "c9")
_OF_AGENT: dict[str, Any] = {"parent_tool_use_id": "c9"}


def _asked_agent() -> list[Any]:
    prompt = {"role": "user", "content": [text("Count.")]}
    line = {"type": "user", "uuid": "u", "session_id": SID, "message": prompt, **_OF_AGENT}
    return [init(), said(_AGENT), line]


def test_a_sub_agent_works_under_its_parent_by_the_name_of_its_file() -> None:
    messages = read_stream(
        *_asked_agent(),
        said(tool_use("run_shell_command", {"command": "ls"}, "c10"), usage=NO_COUNTS, **_OF_AGENT),
        answer("a", "c10", **_OF_AGENT),
        answer("There are 3.", "c9"),
        said(text("Three."), name="m2"),
        result("Three."),
    )

    started = of(SessionStarted, messages)[1]
    assert (started.session_id, started.parent_session_id, started.parent_call_id) == (
        "Explore-c9",
        SID,
        "c9",
    )
    own = [each for each in messages if each.session_id == "Explore-c9"]
    assert [each.text for each in of(Prompt, own)] == ["Count."]
    assert [each.call_id for each in of(ToolCall, own)] == ["c10"]
    assert [each.text for each in of(Text, own)] == ["There are 3."]
    assert [each.outcome for each in of(TurnEnded, own)] == ["completed"]


def test_the_result_of_a_sub_agent_that_failed_does_not_end_the_turn() -> None:
    bad = {
        "type": "result",
        "session_id": SID,
        "is_error": True,
        "duration_ms": 0,
        "usage": NO_COUNTS,
        "error": {"message": "CANCELLED"},
    }
    messages = read_stream(
        *_asked_agent(),
        bad,
        answer("Agent was cancelled by the user.", "c9"),
        said(text("Well."), name="m2"),
        result("Well."),
    )

    ends = [(each.session_id, each.outcome) for each in of(TurnEnded, messages)]
    assert ends == [("Explore-c9", "interrupted"), (SID, "completed")]
    assert not has_counts(0, NO_COUNTS)
    assert has_counts(0, {"cache_read_input_tokens": 0})


def test_a_sub_agent_in_the_background_ends_with_its_notification() -> None:
    note = {"role": "user", "content": [text('Background agent "x" completed.')]}
    messages = read_stream(
        *_asked_agent(),
        system("task_started", task_id="Explore-c9", tool_use_id="c9", subagent_type="Explore"),
        answer("Background agent launched successfully.", "c9"),
        said(text("Started."), name="m2"),
        {"type": "user", "session_id": SID, "parent_tool_use_id": None, "message": note},
        system("task_notification", task_id="Explore-c9", tool_use_id="c9", status="failed"),
        result("Started."),
    )

    ends = [(each.session_id, each.outcome) for each in of(TurnEnded, messages)]
    assert ends == [("Explore-c9", "failed"), (SID, "completed")]
    assert [each.text for each in of(Notice, messages)] == ['Background agent "x" completed.']


def test_another_attempt_and_what_the_program_says_are_notices() -> None:
    messages = read_stream(
        init(),
        system("retry", reason="retry", attempt=1, maxRetries=2, delayMs=60000),
        system("model_fallback", fromModel="a", toModel="b", statusCode=529),
        system("vision_bridge", notice="The image was described by another model."),
        system("continue_turn_failed", error="no"),
        result(),
    )

    assert [(each.text, each.will_retry) for each in of(Notice, messages)] == [
        ("the request failed: attempt 1 of 2 follows in 60.0 s", True),
        ("a could not be used (HTTP 529): continuing with b", False),
        ("The image was described by another model.", False),
        ("no", False),
    ]


def test_pieces_of_a_text_have_the_name_of_the_text() -> None:
    def piece(name: str, **fields: Any) -> dict[str, Any]:
        line = {"type": "stream_event", "uuid": name, "session_id": SID}
        return {**line, "parent_tool_use_id": None, "event": fields}

    block = {"type": "text", "text": ""}
    messages = read_stream(
        init(),
        piece("e1", type="message_start", message={"id": "a", "model": "m"}),
        piece("e2", type="content_block_start", index=0, content_block=block),
        piece("e3", type="content_block_delta", index=0, delta={"type": "text_delta", "text": "H"}),
        said(text("Hi."), name="other"),
        result(),
    )

    (delta,), (whole,) = of(Delta, messages), of(Text, messages)
    assert delta.message_id == whole.message_id == "e2"


def test_a_stream_without_its_beginning_is_read_from_where_it_is() -> None:
    messages = read_stream(said(text("Hi.")), result("Hi."))

    assert [each.outcome for each in of(TurnEnded, messages)] == ["completed"]


def test_a_prompt_that_was_sent_begins_its_turn_when_the_agent_takes_it_up() -> None:
    def sent(value: str, name: str) -> dict[str, Any]:
        message = {"role": "user", "content": value}
        return {"dir": "sent", "t": 0, "msg": {"type": "user", "message": message, "uuid": name}}

    def came(line: Any) -> dict[str, Any]:
        return {"dir": "recv", "t": 0, "msg": line}

    lines = [
        sent("first", "p1"),
        came(init()),
        sent("second", "p2"),
        came(said(text("One."))),
        came(result("One.")),
        came(init()),
        came(said(text("Two."), name="m2")),
        came(result("Two.")),
    ]
    prompts = of(Prompt, read_stream(*lines))

    assert [(each.text, each.turn_id) for each in prompts] == [("first", "p1"), ("second", "p2")]


def test_a_mode_that_changes_is_said() -> None:
    messages = read_stream(init(), result(), init(permission_mode="yolo"), result())

    assert [each.text for each in of(Notice, messages)] == ["permission mode: yolo"]


def test_lines_of_the_wrong_shape_are_kept() -> None:
    parser = QwenStreamParser()
    for line in ({"type": "system"}, {"type": "assistant", "message": 3}, [1], {"type": "news"}):
        parser.receive_line(json.dumps(line).encode())
    parser.receive_eof()

    assert [type(each).__name__ for each in parser.messages()] == ["Unknown"] * 4
