from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from dragoman.export.blocks import TextBlock
from dragoman.export.claude import lines
from dragoman.export.claude.session import ExportedSession
from dragoman.model.messages import (
    ApprovalSettled,
    Compacted,
    Delta,
    Notice,
    Outcome,
    Prompt,
    SessionStarted,
    Text,
    ToolCall,
    TurnEnded,
    UsageReport,
)
from dragoman.model.usage import Usage


def written(line: object) -> dict[str, Any]:
    return msgspec.json.decode(msgspec.json.encode(line), type=dict[str, Any])


STARTED = SessionStarted(session_id="s", harness="codex")
ENDED = TurnEnded(session_id="s", outcome="completed")
SETTLED = ApprovalSettled(approval_id="a1", decision="allow")
AGAIN = Notice(level="error", text="busy", will_retry=True)
MAIN = ExportedSession("s")
SUB_AGENT = ExportedSession("s", parent_call_id="t1")


LINES: dict[str, Callable[[ExportedSession], object]] = {
    "assistant": lambda session: lines.assistant(Text(text="a"), session, TextBlock("a")),
    "user": lambda session: lines.user(Prompt(text="a"), session, TextBlock("a")),
    "delta": lambda session: lines.delta(Delta(of="text", text="a"), session, {}),
    "init": lambda session: lines.init(STARTED, session),
    "approval": lambda session: lines.approval(SETTLED, session),
    "notice": lambda session: lines.notice(Notice(level="info", text="a"), session),
    "retry": lambda session: lines.notice(AGAIN, session),
    "compaction": lambda session: lines.compact_boundary(Compacted(), session),
    "task_notification": lambda session: lines.task_notification(ENDED, session),
}


@pytest.mark.parametrize("session", [MAIN, SUB_AGENT], ids=["main", "sub-agent"])
@pytest.mark.parametrize("make", LINES.values(), ids=LINES)
def test_every_line_names_itself_its_session_and_the_call_it_is_part_of(
    make: Callable[[ExportedSession], object], session: ExportedSession
) -> None:
    line = written(make(session))

    assert line["session_id"] == "s"
    assert line["uuid"]
    assert line.get("parent_tool_use_id") == session.parent_call_id


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"prompt": "Go."}, {"description": "Go.", "prompt": "Go."}),
        ({"prompt": "Go.", "description": "A job"}, {"description": "A job", "prompt": "Go."}),
        ({}, {"description": ""}),
        ({"prompt": ["Go."]}, {"description": "['Go.']"}),
    ],
    ids=["prompt", "description", "nothing", "not a text"],
)
def test_a_task_is_described_by_what_its_call_says(
    given: dict[str, Any], told: dict[str, str]
) -> None:
    task = ToolCall(call_id="t1", tool="Task", native_tool="spawn_agent", input=given)

    line = written(lines.task_started(STARTED, SUB_AGENT, task))

    assert {name: line[name] for name in ("description", "prompt") if name in line} == told


@pytest.mark.parametrize(
    ("outcome", "status", "subtype"),
    [
        ("completed", "completed", "success"),
        ("failed", "failed", "error_during_execution"),
        ("interrupted", "stopped", "error_during_execution"),
    ],
)
def test_every_outcome_has_its_word_in_both_kinds_of_end(
    outcome: Outcome, status: str, subtype: str
) -> None:
    ended = TurnEnded(session_id="s", outcome=outcome)

    assert written(lines.task_notification(ended, SUB_AGENT))["status"] == status
    assert written(lines.result(ended, MAIN))["subtype"] == subtype


def without_ids(line: object) -> dict[str, Any]:
    return {name: value for name, value in written(line).items() if name != "uuid"}


def test_a_notice_is_informational() -> None:
    assert without_ids(lines.notice(Notice(level="warning", text="slow"), MAIN)) == {
        "type": "system",
        "subtype": "informational",
        "level": "warning",
        "content": "slow",
        "session_id": "s",
    }


def test_a_notice_of_a_retry_tells_which_one_of_the_turn_it_is() -> None:
    session = ExportedSession("s")

    assert [without_ids(lines.notice(AGAIN, session)) for _ in range(2)] == [
        {
            "type": "system",
            "subtype": "api_retry",
            "attempt": attempt,
            "max_retries": 0,
            "retry_delay_ms": 0,
            "error_status": None,
            "error": "busy",
            "session_id": "s",
        }
        for attempt in (1, 2)
    ]


def test_compaction_tells_how_full_the_context_was_and_what_is_left_of_it() -> None:
    session = ExportedSession("s")
    boundary = {"type": "system", "subtype": "compact_boundary", "session_id": "s"}

    assert without_ids(lines.compact_boundary(Compacted(), session)) == boundary | {
        "compact_metadata": {"trigger": "auto", "pre_tokens": 0}
    }

    session.report(UsageReport(last=Usage(90, 0, 0, 10)))

    assert without_ids(lines.compact_boundary(Compacted(summary="so far"), session)) == boundary | {
        "compact_metadata": {"trigger": "auto", "pre_tokens": 100},
        "summary": "so far",
    }
