"""What the rows of Qwen Code's chats become."""

from __future__ import annotations

from typing import Any

from dragoman.model.messages import (
    Compacted,
    Context,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    Unknown,
    UsageReport,
)
from support.qwen import (
    SID,
    call_part,
    event,
    of,
    prompted,
    read_chat,
    replied,
    returned,
    row,
    text_part,
)


def test_a_turn_ends_when_the_agent_had_the_last_word() -> None:
    rows = [prompted("hi", "p1"), replied(text_part("Hello."), name="a1")]

    left = of(TurnEnded, read_chat(*rows))
    growing = of(TurnEnded, read_chat(*rows, ending="growing"))
    unfinished = of(TurnEnded, read_chat(prompted("hi", "p1")))

    assert [(each.outcome, each.usage.input_tokens) for each in left] == [("completed", 100)]
    assert growing == unfinished == []


def test_a_turn_ended_when_its_newest_row_was_written() -> None:
    later = {"timestamp": "2026-11-17T08:00:00.000Z"}
    messages = read_chat(
        prompted("hi", "p1"),
        replied(text_part("Hello."), name="a1"),
        prompted("more", "p2", **later),
    )

    (ended,) = of(TurnEnded, messages)
    assert ended.at.day == 15


def test_a_response_is_thoughts_text_and_calls() -> None:
    messages = read_chat(
        prompted("hi", "p1"),
        replied(
            {"text": "Hm.", "thought": True},
            text_part("Looking."),
            call_part("run_shell_command", {"command": "x", "is_background": False}),
            name="a1",
        ),
        event("t1", "tool_call", call_id="c1", duration_ms=12, function_name="run_shell_command"),
        returned(
            "r1",
            {"error": "Command: x\nOutput: bad\nError: (none)\nExit Code: 3\nSignal: (none)"},
            resultDisplay={"type": "shell_result", "exitCode": 3, "output": "bad"},
        ),
    )

    (call,), (result,) = of(ToolCall, messages), of(ToolResult, messages)
    assert (call.tool, call.input) == ("Bash", {"command": "x", "run_in_background": False})
    assert (result.output, result.exit_code, result.is_error, result.duration_ms) == (
        "bad",
        3,
        True,
        12,
    )


def test_a_command_that_printed_nothing_has_no_output() -> None:
    facts = "Command: x\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 3"
    display = {"type": "shell_result", "exitCode": 3, "output": "", "text": facts}
    messages = read_chat(
        prompted("hi", "p1"),
        replied(call_part("run_shell_command", {"command": "x"}), name="a1"),
        returned("r1", {"error": facts}, resultDisplay=display),
    )

    (result,) = of(ToolResult, messages)
    assert (result.output, result.exit_code) == ("", 3)


def test_an_answer_without_counts_was_cut_off() -> None:
    whole = event("t1", "api_response", prompt_id=f"{SID}########1", input_token_count=1)
    cut = read_chat(prompted("hi", "p1"), replied(text_part("Half"), name="a1", counts=False))
    uncounted = read_chat(
        prompted("hi", "p1"), whole, replied(text_part("All."), name="a1", counts=False)
    )

    assert [each.outcome for each in of(TurnEnded, cut)] == ["interrupted"]
    assert [each.outcome for each in of(TurnEnded, uncounted)] == ["completed"]


def test_a_request_that_failed_last_ends_the_turn() -> None:
    error = {"prompt_id": f"{SID}########1", "error_message": "500 no", "status_code": 500}
    lasting = read_chat(prompted("hi", "p1"), event("e1", "api_error", **error))
    passing = read_chat(
        prompted("hi", "p1"),
        event("e1", "api_error", **error),
        replied(text_part("Fine."), name="a1"),
    )

    (ended,) = of(TurnEnded, lasting)
    assert (ended.outcome, ended.error.message, ended.error.native) == (
        "failed",
        "500 no",
        "HTTP 500",
    )
    assert [each.outcome for each in of(TurnEnded, passing)] == ["completed"]


def test_what_the_program_asks_for_itself_is_the_sessions_and_no_turns() -> None:
    counts = {"input_token_count": 70, "output_token_count": 7, "model": "small"}
    memory = {"subagent_id": "managed-auto-memory-extractor-1", "prompt_id": f"{SID}#managed#0"}
    messages = read_chat(
        prompted("hi", "p1"),
        event("t1", "api_response", prompt_id=f"{SID}########1", response_id="r1", **counts),
        replied(text_part("Hello."), name="a1"),
        event("t2", "api_response", response_id="r2", **memory, **counts),
        event("t3", "api_response", response_id="r3", prompt_id="compress-1", **counts),
        event(
            "t4",
            "api_response",
            response_id="r4",
            subagent_id="Explore-c9",
            prompt_id="x",
            **counts,
        ),
    )

    reports = [(each.response_id, each.turn_id, each.model) for each in of(UsageReport, messages)]
    assert reports == [("a1", "p1", "m"), ("r2", None, "small"), ("r3", None, "small")]
    assert [each.usage.input_tokens for each in of(TurnEnded, messages)] == [100]


def test_rows_that_a_fork_copied_are_its_parents() -> None:
    parent = {"forkedFrom": {"sessionId": "parent", "messageUuid": "x"}}
    messages = read_chat(
        prompted("hi", "p1", **parent),
        replied(text_part("Hello."), name="a1", **parent),
        prompted("and now?", "p2"),
        replied(text_part("Bye."), name="a2"),
    )

    reports = [(each.session_id, each.response_id) for each in of(UsageReport, messages)]
    assert reports == [("parent", "a1"), (SID, "a2")]
    started = of(SessionStarted, messages)
    assert [(each.session_id, each.parent_session_id) for each in started[:1]] == [(SID, "parent")]
    assert [(each.session_id, each.outcome) for each in of(TurnEnded, messages)] == [
        ("parent", "completed"),
        (SID, "completed"),
    ]


def test_a_sub_agents_file() -> None:
    own = {"agentId": "Explore-c9", "agentName": "Explore", "isSidechain": True}
    messages = read_chat(
        prompted("Count.", "p1", **own), replied(text_part("There are 3."), name="a1", **own)
    )

    started = of(SessionStarted, messages)[0]
    assert (started.session_id, started.parent_session_id, started.parent_call_id) == (
        "Explore-c9",
        SID,
        "c9",
    )
    assert [each.outcome for each in of(TurnEnded, messages)] == ["completed"]


def test_a_notification_is_no_prompt() -> None:
    task = {"taskId": "Explore-c9", "status": "completed"}
    shown = {"displayText": "Agent completed.", "backgroundTask": task}
    note = prompted(
        "<task-notification>…", "n1", subtype="notification", provenance="system",
        systemPayload=shown,
    )  # fmt: skip
    over = row("system", "b1", subtype="background_task_completed", systemPayload=shown)
    messages = read_chat(prompted("hi", "p1"), replied(text_part("So."), name="a1"), over, note)

    assert [each.text for each in of(Prompt, messages)] == ["hi"]
    assert [each.text for each in of(Notice, messages)] == ["Agent completed."]
    assert [each.text for each in of(Context, messages)] == ["<task-notification>…"]


def test_a_rewind_takes_turns_back() -> None:
    rewind = row("system", "w1", subtype="rewind", systemPayload={"truncatedCount": 4})
    messages = read_chat(
        prompted("one", "p1"),
        replied(text_part("One."), name="a1"),
        prompted("two", "p2"),
        replied(text_part("Two."), name="a2"),
        prompted("three", "p3"),
        replied(text_part("Three."), name="a3"),
        {**rewind, "parentUuid": "a1"},
        prompted("four", "p4"),
    )

    (notice,) = of(Notice, messages)
    assert (notice.undone_turns, notice.text) == (2, "2 turns taken back")


def test_what_the_program_keeps_beside_the_conversation() -> None:
    history = [{"role": "user", "parts": [text_part("<state_snapshot>All.</state_snapshot>")]}]

    def kept(subtype: str, name: str, **payload: Any) -> dict[str, Any]:
        return row("system", name, subtype=subtype, systemPayload=payload)

    messages = read_chat(
        prompted("hi", "p1"),
        kept("custom_title", "s1", customTitle="Tea", titleSource="auto"),
        kept("custom_title", "s2", customTitle="Tea", titleSource="auto"),
        kept("chat_compression", "s3", info={}, compressedHistory=history),
        kept("slash_command", "s4", outputHistoryItems=[{"type": "error", "text": "No."}]),
        kept("branch_checkpoint", "s5", v=1),
        kept("novelty", "s6", x=1),
    )

    assert [(each.level, each.text) for each in of(Notice, messages)] == [
        ("info", "title: Tea"),
        ("error", "No."),
    ]
    assert [each.summary for each in of(Compacted, messages)] == [
        "<state_snapshot>All.</state_snapshot>"
    ]
    assert [each.native_type for each in of(Unknown, messages)] == ["system/novelty"]


def test_a_row_that_is_there_twice_is_read_once() -> None:
    again = replied(text_part("Hello."), name="a1")
    messages = read_chat(prompted("hi", "p1"), again, again)

    assert [each.text for each in of(Text, messages)] == ["Hello."]
    assert len(of(UsageReport, messages)) == 1
