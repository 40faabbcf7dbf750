from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from dragoman.harnesses.claude.transcript.parser import TranscriptParser
from dragoman.harnesses.claude.writing.session import new_id
from dragoman.harnesses.contract.writer import HandedConversation, HandedTurn, WrittenSession
from dragoman.model.messages import (
    Compacted,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from support.handoff import AT, conversation, messages_in, use, write


def _contents(written: WrittenSession) -> list[Any]:
    rows = [json.loads(line) for line in written.lines]
    return [row["message"]["content"] for row in rows if row["type"] in ("user", "assistant")]


def test_an_id_is_random() -> None:
    assert UUID(new_id(AT, b"\xff" * 16)).version == 4
    assert new_id(AT, b"\xff" * 16) != new_id(AT, bytes(16))


def test_the_file_is_in_the_folder_of_its_directory() -> None:
    written = write("claude", conversation(Prompt(text="go")))
    session_id = json.loads(written.lines[0])["sessionId"]

    assert written.file == f"projects/-workspace/{session_id}.jsonl"


def test_thoughts_are_left_out_and_counted() -> None:
    written = write("claude", conversation(Prompt(text="go"), Thinking(text="hm"), Text(text="ok")))

    assert not any(b"hm" in line for line in written.lines)
    assert [(loss.kind, loss.count, loss.kept) for loss in written.losses] == [
        ("thinking", 1, False)
    ]


def test_images_are_sent_as_claude_takes_them() -> None:
    images = ["data:image/png;base64,AA==", "https://example.com/x.png", "/tmp/x.png"]
    [content] = _contents(
        write("claude", conversation(Prompt(text="look", images=images), outcome="failed"))
    )

    assert content == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/x.png"}},
        {"type": "text", "text": "[image: /tmp/x.png]"},
        {"type": "text", "text": "look"},
    ]


def test_a_prompt_sent_to_a_running_turn_does_not_begin_another() -> None:
    parts = [Prompt(text="go"), Text(text="working"), Prompt(text="also this"), Text(text="ok")]
    messages = messages_in(write("claude", conversation(*parts)))

    assert sum(isinstance(each, TurnStarted) for each in messages) == 1
    assert [each.text for each in messages if isinstance(each, Prompt)] == ["go", "also this"]


def test_a_summary_reads_as_a_compaction() -> None:
    handed = HandedConversation(
        summary="so far", turns=[HandedTurn(number=3, parts=[Prompt(text="go")])]
    )
    messages = messages_in(write("claude", handed))

    assert [each.summary for each in messages if isinstance(each, Compacted)] == ["so far"]


def test_how_turns_end() -> None:
    error = TurnError("response_error", "quota is gone", retryable=False)
    turns = [
        HandedTurn(number=1, parts=[Prompt(text="a"), Text(text="b")], outcome="completed"),
        HandedTurn(number=2, parts=[Prompt(text="c")], outcome="interrupted"),
        HandedTurn(number=3, parts=[Prompt(text="d")], outcome="failed", error=error),
    ]
    messages = messages_in(write("claude", HandedConversation(turns=turns)))

    ends = [each for each in messages if isinstance(each, TurnEnded)]
    assert [each.outcome for each in ends] == ["completed", "interrupted", "failed"]
    assert ends[2].error is not None
    assert "quota is gone" in ends[2].error.message


def test_a_declined_call_stays_declined_and_a_call_without_a_result_gets_one() -> None:
    declined = use("Bash", {"command": "x"}, "no", status="declined", is_error=True)
    cut_short = use("Bash", {"command": "y"}, "", status="abandoned")
    written = write(
        "claude", conversation(Prompt(text="go"), declined, cut_short, outcome="interrupted")
    )

    results = [each for each in messages_in(written) if isinstance(each, ToolResult)]
    assert [(each.status, each.is_error) for each in results] == [
        ("declined", True),
        ("failed", True),
    ]
    assert [loss.kind for loss in written.losses] == ["tool results"]


def test_an_empty_text_is_left_out() -> None:
    written = write("claude", conversation(Prompt(text="go"), Text(text=" \n"), Text(text="ok")))

    assert _contents(written) == ["go", [{"type": "text", "text": "ok"}]]


def test_a_call_without_a_counterpart_is_text_that_names_it() -> None:
    written = write("claude", conversation(Prompt(text="go"), use("update_topic", {"t": 1}, "ok")))

    [text] = [each.text for each in messages_in(written) if isinstance(each, Text)]
    assert text == '[Earlier call of the tool update_topic]\ninput: {"t":1}\nresult: ok'
    assert [loss.names for loss in written.losses if loss.names] == [("update_topic",)]


def test_a_reader_need_not_wait_for_the_first_answer_to_see_it() -> None:
    written = write("claude", conversation(Prompt(text="go"), Text(text="ok")))
    parser = TranscriptParser()
    parser.receive_lines([line + b"\n" for line in written.lines])

    assert [type(each) for each in parser.messages()][:3] == [SessionStarted, TurnStarted, Prompt]
