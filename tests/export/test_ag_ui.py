from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.export.ag_ui import AgUiExporter
from dragoman.export.base import Options
from dragoman.model.messages import Delta, Message, Notice, TurnEnded, TurnStarted
from dragoman.model.usage import Usage
from support.terminal.chat_story import parsed, story

EVERYTHING = Options(include=frozenset({"context", "deltas", "raw"}))


def events(*messages: Message, options: Options | None = None) -> list[dict[str, Any]]:
    exporter = AgUiExporter(options or Options())
    return parsed(exporter.export(messages) + exporter.finish())


@pytest.mark.parametrize(("name", "options"), [("ag-ui", Options()), ("ag-ui-all", EVERYTHING)])
def test_a_whole_session(
    name: str, options: Options, data: Path, request: pytest.FixtureRequest
) -> None:
    golden = data / "export" / f"{name}.jsonl"
    exporter = AgUiExporter(options)

    written = exporter.export(story()) + exporter.finish()

    if request.config.getoption("--update-golden"):
        golden.write_bytes(written)
    assert written == golden.read_bytes()


def test_runs_follow_one_another_and_nothing_is_outside_of_them() -> None:
    is_open, entities = False, set[tuple[str, str]]()
    for event in events(*story(), options=EVERYTHING):
        kind = event["type"]
        if kind == "RUN_STARTED":
            assert not is_open
            is_open = True
        elif kind in ("RUN_FINISHED", "RUN_ERROR"):
            assert is_open
            assert not entities
            is_open = False
        else:
            assert is_open, event
        for word, action in (("_START", "add"), ("_END", "remove")):
            if kind.endswith(word) and not kind.startswith("RUN"):
                name = event.get("messageId") or event["toolCallId"]
                getattr(entities, action)((kind.removesuffix(word), name))


def test_a_sub_agent_is_named() -> None:
    said = [each for each in events(*story()) if each.get("subagentRunId")]

    assert {each["subagentRunId"] for each in said} == {"helper"}
    assert [each["type"] for each in said] == [
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
    ]


def test_an_interrupted_run_is_cancelled_and_a_failed_one_is_an_error() -> None:
    ends = [each for each in events(*story()) if each["type"] in ("RUN_FINISHED", "RUN_ERROR")]

    assert ends[0]["outcome"] == {"type": "success"}
    assert ends[0]["usage"][0]["inputTokens"] == 1200
    assert ends[1]["message"] == "busy"
    assert ends[1]["code"] == "overloaded"
    assert ends[2]["outcome"] == {"type": "cancelled"}


def test_no_number_is_larger_than_a_browser_can_count() -> None:
    [_, ended] = events(TurnEnded(outcome="completed", usage=Usage(1 << 60, 0, 0, 1)))

    assert ended["usage"][0]["inputTokens"] == (1 << 53) - 1


def test_what_is_said_outside_of_a_turn_is_a_run_of_its_own() -> None:
    told = events(Notice(level="info", text="hello"))

    assert [each["type"] for each in told] == ["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]


def test_a_thought_that_is_never_finished_is_ended_with_its_run() -> None:
    told = events(TurnStarted(turn_id="t"), Delta(of="thinking", text="hm"))

    assert [each["type"] for each in told] == [
        "RUN_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "RUN_FINISHED",
    ]
