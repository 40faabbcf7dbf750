from __future__ import annotations

from typing import Any

from dragoman.model.messages import (
    Compacted,
    Context,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage
from support.claude.lines import (
    SID,
    assistant_row,
    call,
    output,
    prompt_row,
    read_rows,
    results_row,
    row,
    text,
)
from support.messages import of

RESPONSE = Usage(60, 30, 20, 40, 0, 5)


def test_the_session_is_introduced_once_with_its_model() -> None:
    messages = read_rows(prompt_row("hi"), assistant_row("m1", text("hello")))

    (started,) = of(SessionStarted, messages)
    assert (started.session_id, started.model, started.cwd) == (SID, "m", "/w")
    assert messages[0] == started


def test_a_response_counts_once_however_many_rows_it_has() -> None:
    messages = read_rows(
        prompt_row("hi"),
        assistant_row("m1", text("one"), stop="tool_use"),
        assistant_row("m1", call("c1", "Read"), stop="tool_use"),
        results_row(output("c1", "x")),
        assistant_row("m2", text("two")),
    )

    reports = of(UsageReport, messages)
    assert [(each.response_id, each.last) for each in reports] == [
        ("m1", RESPONSE),
        ("m2", RESPONSE),
    ]
    (end,) = of(TurnEnded, messages)
    assert end.usage == RESPONSE + RESPONSE


def test_a_turn_that_finished_ends_when_bookkeeping_follows() -> None:
    rows = [prompt_row("hi"), assistant_row("m1", text("hello"))]

    growing = read_rows(*rows, ending="growing")
    followed = read_rows(*rows, row("last-prompt"), ending="growing")

    assert of(TurnEnded, growing) == []
    assert [each.outcome for each in of(TurnEnded, followed)] == ["completed"]


def test_a_turn_in_the_middle_stays_open_in_a_file_that_was_left() -> None:
    rows = [prompt_row("hi"), assistant_row("m1", call("c1", "Bash"), stop="tool_use")]

    assert of(TurnEnded, read_rows(*rows, ending="left")) == []
    assert [each.outcome for each in of(TurnEnded, read_rows(*rows, ending="over"))] == [
        "interrupted"
    ]


def test_an_interruption_ends_the_turn() -> None:
    messages = read_rows(
        prompt_row("hi"),
        assistant_row("m1", text("half"), stop=None),
        results_row({"type": "text", "text": "[Request interrupted by user]"}),
        ending="growing",
    )

    assert [each.outcome for each in of(TurnEnded, messages)] == ["interrupted"]


def test_an_error_of_the_api_ends_the_turn() -> None:
    refused = assistant_row(
        "x",
        text("API Error: 500 boom"),
        isApiErrorMessage=True,
        error="server_error",
        apiErrorStatus=500,
    )
    messages = read_rows(prompt_row("hi"), refused)

    (end,) = of(TurnEnded, messages)
    assert (end.outcome, end.error.native, end.error.retryable) == ("failed", "server_error", True)
    assert of(Text, messages) == []


def test_rows_that_a_fork_copied_count_for_the_parent() -> None:
    began = "2026-11-18T10:00:00Z"
    before = "2026-11-18T09:00:00Z"
    messages = read_rows(
        row("queue-operation", operation="enqueue", timestamp=began),
        prompt_row("old", timestamp=before),
        assistant_row("m1", text("old answer"), timestamp=before, requestSessionId="parent"),
        prompt_row("new", timestamp="2026-11-18T10:00:01Z"),
        assistant_row("m2", text("new answer"), timestamp="2026-11-18T10:00:02Z"),
    )

    (started,) = of(SessionStarted, messages)
    assert (started.session_id, started.parent_session_id) == (SID, "parent")
    assert [(each.text, each.session_id) for each in of(Prompt, messages)] == [
        ("old", "parent"),
        ("new", SID),
    ]
    assert [(each.session_id, each.response_id) for each in of(UsageReport, messages)] == [
        ("parent", "m1"),
        (SID, "m2"),
    ]


def test_forked_from_names_the_parent_on_each_row() -> None:
    copied: dict[str, Any] = {"forkedFrom": {"sessionId": "parent", "messageUuid": "u"}}
    messages = read_rows(
        prompt_row("old", **copied),
        assistant_row("m1", text("old answer"), **copied),
        prompt_row("new"),
        assistant_row("m2", text("new answer")),
    )

    assert [each.session_id for each in of(Text, messages)] == ["parent", SID]


def test_the_rows_of_a_sub_agent_are_a_session_of_their_own() -> None:
    mine: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    messages = read_rows(prompt_row("find it", **mine), assistant_row("m1", text("found"), **mine))

    (started,) = of(SessionStarted, messages)
    assert (started.session_id, started.parent_session_id) == ("a1", SID)
    assert {each.session_id for each in messages} == {"a1"}
    assert [each.outcome for each in of(TurnEnded, messages)] == ["completed"]


def test_sidechains_without_a_name_are_told_apart_by_their_first_row() -> None:
    messages = read_rows(
        prompt_row("go", uuid="u1"),
        prompt_row("find it", uuid="s1", isSidechain=True),
        assistant_row("m2", text("found"), uuid="s2", parentUuid="s1", isSidechain=True),
        assistant_row("m1", text("done"), uuid="u2", parentUuid="u1"),
    )

    assert [(each.text, each.session_id) for each in of(Text, messages)] == [
        ("found", "s1"),
        ("done", SID),
    ]


def test_a_prompt_that_goes_on_from_an_earlier_turn_takes_back_those_after_it() -> None:
    messages = read_rows(
        prompt_row("one", uuid="u1"),
        assistant_row("m1", text("1"), uuid="u2", parentUuid="u1"),
        prompt_row("two", uuid="u3", parentUuid="u2"),
        assistant_row("m2", text("2"), uuid="u4", parentUuid="u3"),
        prompt_row("three", uuid="u5", parentUuid="u4"),
        assistant_row("m3", text("3"), uuid="u6", parentUuid="u5"),
        prompt_row("two again", uuid="u7", parentUuid="u2"),
        assistant_row("m4", text("4"), uuid="u8", parentUuid="u7"),
    )

    assert [each.undone_turns for each in of(Notice, messages)] == [2]
    assert len(of(TurnStarted, messages)) == 4


def test_a_queued_prompt_joins_the_running_turn() -> None:
    queued = {"type": "queued_command", "prompt": "and this", "commandMode": "prompt"}
    messages = read_rows(
        prompt_row("do"),
        assistant_row("m1", call("c1", "Bash"), stop="tool_use"),
        results_row(output("c1", "x")),
        row("attachment", attachment=queued),
        assistant_row("m2", text("both")),
    )

    assert [(each.text, each.turn_id) for each in of(Prompt, messages)] == [
        ("do", "turn-1"),
        ("and this", "turn-1"),
    ]


def test_a_notification_begins_a_turn_without_a_prompt() -> None:
    messages = read_rows(
        prompt_row("go"),
        assistant_row("m1", text("started")),
        prompt_row("<task-notification>done</task-notification>", promptSource="system"),
        assistant_row("m2", text("noticed")),
    )

    assert len(of(TurnStarted, messages)) == 2
    assert [each.text for each in of(Prompt, messages)] == ["go"]
    assert [each.turn_id for each in of(Context, messages)] == ["turn-2"]


def test_a_compaction_carries_its_summary() -> None:
    messages = read_rows(
        prompt_row("hi"),
        assistant_row("m1", text("hello")),
        row("system", subtype="compact_boundary", content="Conversation compacted"),
        prompt_row("The summary", isCompactSummary=True),
    )

    assert [each.summary for each in of(Compacted, messages)] == ["The summary"]


def test_a_command_of_the_program_is_a_prompt_as_it_was_typed() -> None:
    typed = "<command-name>/cost</command-name>\n<command-args>now</command-args>"
    messages = read_rows(
        prompt_row(typed),
        prompt_row("<local-command-stdout>Total: $0</local-command-stdout>"),
        prompt_row("next"),
    )

    assert [each.text for each in of(Prompt, messages)] == ["/cost now", "next"]
    assert [each.text for each in of(Notice, messages)] == ["Total: $0"]
    assert [each.outcome for each in of(TurnEnded, messages)] == ["completed"]


def test_a_denied_call_is_declined() -> None:
    messages = read_rows(
        prompt_row("hi"),
        assistant_row("m1", call("c1", "Bash"), stop="tool_use"),
        results_row(output("c1", "No", is_error=True), toolDenialKind="user-rejected"),
    )

    assert [each.status for each in of(ToolResult, messages)] == ["declined"]


def test_a_row_that_was_written_again_is_no_second_prompt() -> None:
    rows = [prompt_row("hi", uuid="u1"), assistant_row("m1", text("hello"), uuid="u2")]
    messages = read_rows(*rows, *rows)

    assert [each.turn_id for each in of(TurnStarted, messages)] == ["u1"]
    assert [each.text for each in of(Text, messages)] == ["hello"]
    assert len(of(UsageReport, messages)) == 1


def test_rows_of_another_session_are_emitted_under_its_id() -> None:
    messages = read_rows(
        prompt_row("hi"),
        assistant_row("m1", text("hello")),
        {**prompt_row("more"), "sessionId": "other"},
        {**assistant_row("m2", text("world")), "sessionId": "other"},
    )

    assert [(each.text, each.session_id) for each in of(Text, messages)] == [
        ("hello", SID),
        ("world", "other"),
    ]


def test_a_response_without_a_reason_may_go_on_until_something_else_says_that_it_does_not() -> None:
    rows = [
        prompt_row("hi"),
        assistant_row("m1", text("hello"), stop=None),
        row("last-prompt"),
    ]

    assert of(TurnEnded, read_rows(*rows, ending="growing")) == []
    for ended in (read_rows(*rows), read_rows(*rows, prompt_row("next"), ending="growing")):
        (end,) = of(TurnEnded, ended)
        assert (end.outcome, end.usage) == ("completed", RESPONSE)


def test_a_response_that_was_aborted_is_no_last_word() -> None:
    half = assistant_row("m1", text("half"), stop=None, isAbortedMidStream=True)

    assert of(TurnEnded, read_rows(prompt_row("hi"), half)) == []
