"""The chat file as a log: what it takes back is not lost, and what it repeats is emitted once."""

from __future__ import annotations

import json
from typing import Any

from dragoman.harnesses.contract.reading import Ending
from dragoman.harnesses.gemini.chat.parser import GeminiChatParser
from dragoman.model.messages import (
    Compacted,
    Context,
    Message,
    Notice,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    Unknown,
    UsageReport,
)

_CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /workspace\n</session_context>"
_TOKENS = {"input": 100, "output": 20, "cached": 40, "thoughts": 15, "tool": 0, "total": 135}


def header(session: str = "s1") -> dict[str, Any]:
    return {"sessionId": session, "projectHash": "p", "startTime": "2026-11-15T22:00:00.000Z"}


def user(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": _at(1), "type": "user", "content": [{"text": text}], **more}


def model(name: str, text: str = "", **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": name,
        "timestamp": _at(2),
        "type": "gemini",
        "content": text,
        "thoughts": [],
    }
    return {**row, "model": "m", **more}


def call(name: str, status: str = "success", **more: Any) -> dict[str, Any]:
    response = {"functionResponse": {"id": name, "response": {"output": "done"}}}
    return {"id": name, "name": "glob", "args": {"pattern": name}, "status": status,
            "result": [response] if status == "success" else None, **more}  # fmt: skip


def messages_set(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"$set": {"messages": [user("ctx", _CONTEXT), *rows]}}


def read(*rows: dict[str, Any], ending: Ending = "left") -> list[Message]:
    parser = GeminiChatParser(audit=True)
    parser.receive_lines(json.dumps(row).encode() for row in rows)
    parser.receive_eof(ending)
    return parser.messages()


def _at(minute: int) -> str:
    return f"2026-11-15T22:{minute:02}:00.000Z"


def of(messages: list[Message], *kinds: type[Message]) -> list[Message]:
    return [message for message in messages if isinstance(message, kinds)]


def ends(messages: list[Message]) -> list[str]:
    return [message.outcome for message in messages if isinstance(message, TurnEnded)]


def test_the_session_is_announced_with_the_folder_that_its_first_message_names() -> None:
    started, *_ = read(header(), messages_set())

    assert isinstance(started, SessionStarted)
    assert (started.session_id, started.cwd, started.line) == ("s1", "/workspace", 1)


def test_a_message_that_grows_is_emitted_once_and_so_are_its_tokens() -> None:
    row = model("g", "Running.", tokens=_TOKENS)
    messages = read(
        header(),
        user("u", "go"),
        row,
        {**row, "toolCalls": [call("c1")]},
        {**row, "toolCalls": [call("c1"), call("c2")]},
    )

    assert [each.text for each in messages if isinstance(each, Text)] == ["Running."]
    calls = [each.call_id for each in messages if isinstance(each, ToolCall)]
    results = [each.call_id for each in messages if isinstance(each, ToolResult)]
    assert calls == results == ["c1", "c2"]
    (usage,) = [each for each in messages if isinstance(each, UsageReport)]
    assert usage.response_id == "g"
    assert usage.last is not None
    assert usage.last.output_tokens == 35


def test_a_call_that_has_no_result_yet_gets_it_from_the_row_that_follows() -> None:
    response = {"functionResponse": {"id": "c1", "name": "glob", "response": {"output": "late"}}}
    messages = read(
        header(),
        user("u", "go"),
        model("g", toolCalls=[call("c1", "executing")]),
        {**user("r", ""), "content": [response]},
    )

    (result,) = [each for each in messages if isinstance(each, ToolResult)]
    assert (result.output, result.status, result.line) == ("late", "completed", 4)


def test_a_turn_that_was_taken_back_is_interrupted_and_keeps_what_it_said() -> None:
    messages = read(
        header(),
        messages_set(),
        user("u1", "first"),
        model("g1", "One."),
        user("u2", "second"),
        messages_set(user("u1", "first"), model("g1", "One.")),
        user("u3", "third"),
        model("g3", "Three."),
    )

    assert ends(messages) == ["completed", "interrupted", "completed"]
    prompts = [each.text for each in messages if isinstance(each, Prompt)]
    assert prompts == ["first", "second", "third"]


def test_a_second_header_neither_ends_nor_undoes_a_turn() -> None:
    messages = read(
        header(),
        messages_set(),
        user("u1", "first"),
        model("g1", "One.", toolCalls=[call("c1")]),
        header(),
        messages_set(),
        model("g2", "Two."),
    )

    assert len(of(messages, TurnStarted)) == 1
    assert ends(messages) == ["completed"]
    assert [each.line for each in messages if isinstance(each, TurnEnded)] == [7]


def test_what_only_the_list_has_is_context() -> None:
    messages = read(
        header(),
        messages_set(),
        user("u1", "first"),
        model("g1", "One."),
        messages_set(user("x", "carried over"), model("y", "understood")),
    )

    said = [(each.role, each.text) for each in messages if isinstance(each, Context)]
    assert said == [("user", _CONTEXT), ("user", "carried over"), ("assistant", "understood")]
    assert len(of(messages, Text, Prompt)) == 2
    assert ends(messages) == ["completed"]


def test_a_summary_in_the_list_is_a_compaction() -> None:
    messages = read(
        header(),
        user("u1", "first"),
        model("g1", "One."),
        messages_set(user("x", "<state_snapshot>all of it</state_snapshot>")),
    )

    (compacted,) = of(messages, Compacted)
    assert isinstance(compacted, Compacted)
    assert "all of it" in (compacted.summary or "")


def test_going_back_undoes_the_turns_from_there() -> None:
    messages = read(
        header(),
        user("u1", "first"),
        model("g1", "One."),
        user("u2", "second"),
        model("g2", "Two."),
        {"$rewindTo": "u2"},
        user("u3", "third"),
    )

    (notice,) = of(messages, Notice)
    assert isinstance(notice, Notice)
    assert (notice.undone_turns, notice.text) == (1, "1 turn taken back")
    assert ends(messages) == ["completed", "completed"]


def test_thoughts_have_the_words_in_which_the_program_shows_them() -> None:
    thoughts = [{"subject": "Looking", "description": "around"}, {"description": "only this"}]
    messages = read(header(), user("u", "go"), model("g", "Yes.", thoughts=thoughts))

    said = [each.text for each in messages if isinstance(each, Thinking)]
    assert said == ["**Looking**\naround", "only this"]


def test_a_prompt_that_was_shown_shorter_is_shown_so() -> None:
    row = user("u", "look at @a.txt\n--- a.txt ---\nalpha", displayContent=[{"text": "look at @a"}])
    messages = read(header(), row)

    (prompt,) = of(messages, Prompt)
    assert isinstance(prompt, Prompt)
    assert prompt.text == "look at @a"
    assert any("alpha" in each.text for each in messages if isinstance(each, Context))


def test_a_file_that_may_still_grow_leaves_its_turn_open() -> None:
    rows = header(), user("u", "go"), model("g", "Yes.")

    assert ends(read(*rows, ending="growing")) == []
    assert ends(read(*rows, ending="left")) == ["completed"]
    assert ends(read(header(), user("u", "go"), ending="left")) == []
    assert ends(read(header(), user("u", "go"), ending="over")) == ["interrupted"]


def test_notes_of_the_program_are_notices_and_new_kinds_are_kept() -> None:
    messages = read(
        header(),
        {**user("i", "update available"), "type": "info"},
        {**user("e", "it broke"), "type": "error"},
        {**user("n", "?"), "type": "novel"},
        {"$set": {"novel": 1}},
        {"$set": {"summary": "Fix it"}},
    )

    notices = [(each.level, each.text) for each in messages if isinstance(each, Notice)]
    assert notices == [
        ("info", "update available"),
        ("error", "it broke"),
        ("info", "title: Fix it"),
    ]
    assert [each.line for each in messages if isinstance(each, Unknown)] == [4, 5]


def test_an_old_header_may_hold_the_messages_itself() -> None:
    messages = read({**header(), "messages": [user("u", "go"), model("g", "Yes.")]})

    assert [type(each) for each in of(messages, Prompt, Text)] == [Prompt, Text]


def test_a_turn_before_a_resumed_run_ended_with_its_own_last_message() -> None:
    header = {"sessionId": "s", "projectHash": "p", "startTime": "2026-11-19T05:00:00Z"}
    rows: list[dict[str, Any]] = [
        header,
        {"id": "u1", "timestamp": "2026-11-19T05:00:01Z", "type": "user", "content": "one"},
        {"id": "g1", "timestamp": "2026-11-19T05:00:02Z", "type": "gemini", "content": "One."},
        {
            "$set": {
                "lastUpdated": "2026-11-19T06:00:00Z",
                "messages": [
                    {"id": "u1", "type": "user", "content": "one"},
                    {"id": "g1", "type": "gemini", "content": "One.", "toolCalls": []},
                ],
            }
        },
        {"id": "u2", "timestamp": "2026-11-19T06:00:01Z", "type": "user", "content": "two"},
    ]
    parser = GeminiChatParser()
    for row in rows:
        parser.receive_line(json.dumps(row).encode())
    parser.receive_eof("growing")

    (ended,) = [each for each in parser.messages() if isinstance(each, TurnEnded)]
    assert ended.at is not None
    assert ended.at.isoformat() == "2026-11-19T05:00:02+00:00"
