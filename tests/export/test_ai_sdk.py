from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.export.ai_sdk import AiSdkExporter
from dragoman.export.base import Options
from dragoman.model.messages import Delta, Message, Notice, Text, ToolResult, TurnEnded, TurnStarted
from support.terminal.chat_story import parsed, story

EVERYTHING = Options(include=frozenset({"context", "deltas", "raw"}))


def parts(*messages: Message, options: Options | None = None) -> list[dict[str, Any]]:
    exporter = AiSdkExporter(options or Options())
    return parsed(exporter.export(messages) + exporter.finish())


@pytest.mark.parametrize(("name", "options"), [("ai-sdk", Options()), ("ai-sdk-all", EVERYTHING)])
def test_a_whole_session(
    name: str, options: Options, data: Path, request: pytest.FixtureRequest
) -> None:
    golden = data / "export" / f"{name}.jsonl"
    exporter = AiSdkExporter(options)

    written = exporter.export(story()) + exporter.finish()

    if request.config.getoption("--update-golden"):
        golden.write_bytes(written)
    assert written == golden.read_bytes()


def test_every_message_has_a_beginning_and_an_end_and_parts_only_between_them() -> None:
    is_open, texts = False, set[str]()
    for part in parts(*story()):
        match part["type"]:
            case "start":
                assert not is_open
                is_open = True
            case "finish" | "abort":
                assert is_open
                assert not texts
                is_open = False
            case "text-start" | "reasoning-start":
                assert part["id"] not in texts
                texts.add(part["id"])
            case "text-delta" | "reasoning-delta":
                assert part["id"] in texts
                assert part["delta"]
            case "text-end" | "reasoning-end":
                texts.remove(part["id"])
            case _:
                assert is_open, part


def test_a_result_comes_after_its_call_even_if_that_was_not_heard() -> None:
    kinds = [each["type"] for each in parts(ToolResult(call_id="c", output="x"))]

    assert kinds[2:4] == ["tool-input-available", "tool-output-available"]


def test_what_is_said_outside_of_a_turn_is_a_message_of_its_own() -> None:
    told = parts(Notice(level="info", text="hello"))

    assert [each["type"] for each in told] == [
        "start",
        "start-step",
        "data-notice",
        "finish-step",
        "finish",
    ]


def test_a_turn_without_a_beginning_has_one_all_the_same() -> None:
    assert [each["type"] for each in parts(TurnEnded(outcome="completed"))] == [
        "start",
        "start-step",
        "finish-step",
        "finish",
    ]


def test_the_words_of_the_prompt_are_told_if_asked_for() -> None:
    kinds = [each["type"] for each in parts(*story(), options=EVERYTHING)]

    assert "data-prompt" in kinds
    assert "data-context" in kinds
    assert "data-raw" in kinds


def test_batches_make_no_difference() -> None:
    one_by_one = AiSdkExporter(Options())

    written = b"".join(one_by_one.export([each]) for each in story()) + one_by_one.finish()

    assert parsed(written) == parts(*story())


def test_a_turn_that_does_not_end_is_closed() -> None:
    told = parts(TurnStarted(turn_id="t"), Delta(of="text", text="Hel"), Text(text="Hello"))

    assert told[-1] == {"type": "finish", "finishReason": "other"}
