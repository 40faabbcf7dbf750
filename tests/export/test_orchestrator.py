from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from dragoman.export.base import Include, Options
from dragoman.export.orchestrator import OrchestratorExporter
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Delta,
    Diff,
    Malformed,
    Message,
    Notice,
    Plan,
    Prompt,
    RateLimits,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    Unknown,
    UsageReport,
)
from dragoman.model.usage import Usage

AT = datetime(2026, 11, 15, 22, 26, 6, 500000, tzinfo=UTC)
ABOUT = {"session_id": "s", "turn_id": "t", "timestamp": None}
CALL = ToolCall(session_id="s", turn_id="t", at=AT, call_id="c1", tool="Bash", native_tool="shell")


def events(*messages: Message, include: frozenset[Include] = frozenset()) -> list[dict[str, Any]]:
    written = OrchestratorExporter(Options(include=include)).export(messages)
    return [msgspec.json.decode(line) for line in written.split(b"\n") if line]


def notification(event: str, **fields: object) -> dict[str, object]:
    return {"type": "notification", **ABOUT, "event": event, **fields}


def test_the_first_turn_starts_the_session_and_later_ones_are_notifications() -> None:
    turn = TurnStarted(session_id="s", turn_id="t", at=AT)
    started = SessionStarted(session_id="s", harness="codex", version="0.166.0", model="gpt-5.5")

    assert events(started, turn, turn) == [
        {
            "type": "session_started",
            "session_id": "s",
            "turn_id": "t",
            "timestamp": "2026-11-15T22:26:06.500000Z",
            "harness": "codex",
            "version": "0.166.0",
            "model": "gpt-5.5",
            "agent_pid": None,
        },
        notification("turn_started") | {"timestamp": "2026-11-15T22:26:06.500000Z"},
    ]


def test_a_session_nobody_announced_starts_with_what_is_known() -> None:
    assert events(TurnStarted()) == [
        {
            "type": "session_started",
            "session_id": None,
            "turn_id": None,
            "timestamp": None,
            "harness": None,
            "version": None,
            "model": None,
            "agent_pid": None,
        }
    ]


@pytest.mark.parametrize(
    ("result", "duration_ms"),
    [
        (ToolResult(session_id="s", turn_id="t", call_id="c1", duration_ms=70), 70),
        (ToolResult(session_id="s", at=AT + timedelta(seconds=2), call_id="c1"), 2000),
        (ToolResult(session_id="s", call_id="c1"), None),
    ],
    ids=["told", "from the times", "not known"],
)
def test_a_tool_result_knows_its_tool_and_how_long_it_took(
    result: ToolResult, duration_ms: int | None
) -> None:
    made = events(CALL, result)

    assert [each["type"] for each in made] == ["notification", "tool_result"]
    assert (made[0]["event"], made[0]["tool_name"]) == ("tool_started", "Bash")
    assert (made[1]["tool_name"], made[1]["tool_duration_ms"]) == ("Bash", duration_ms)


def test_a_tool_result_without_its_call_is_still_told() -> None:
    result = ToolResult(
        session_id="s", turn_id="t", call_id="c1", is_error=True, exit_code=3, status="failed"
    )

    assert events(result) == [
        {
            "type": "tool_result",
            **ABOUT,
            "tool_name": None,
            "tool_duration_ms": None,
            "is_error": True,
            "status": "failed",
            "exit_code": 3,
        }
    ]


def test_calls_of_different_sessions_do_not_mix() -> None:
    [_, result] = events(CALL, ToolResult(session_id="other", call_id="c1"))

    assert result["tool_name"] is None


def test_a_call_to_a_tool_that_does_not_exist_is_unsupported() -> None:
    result = ToolResult(
        session_id="s", turn_id="t", call_id="c1", output="unsupported call: nope", is_error=True
    )

    assert events(CALL, result)[1:] == [
        {"type": "unsupported_tool_call", **ABOUT, "tool_name": "Bash"}
    ]


@pytest.mark.parametrize(
    ("message", "event"),
    [
        (
            Text(session_id="s", turn_id="t", text="x" * 300),
            notification("message", message="x" * 200),
        ),
        (Thinking(session_id="s", turn_id="t", text="hm"), notification("thinking")),
        (Plan(session_id="s", turn_id="t"), notification("plan")),
        (
            ApprovalRequested(
                session_id="s",
                turn_id="t",
                approval_id="a1",
                kind="command",
                tool="Bash",
                summary="rm -rf build",
            ),
            notification("approval_requested", message="rm -rf build", tool_name="Bash"),
        ),
        (
            ApprovalSettled(session_id="s", turn_id="t", approval_id="a1", decision="accept"),
            notification("approval_settled", message="accept"),
        ),
        (
            Notice(session_id="s", turn_id="t", level="warning", text="slow"),
            notification("notice", message="slow", level="warning"),
        ),
        (
            Notice(session_id="s", turn_id="t", level="error", text="busy", will_retry=True),
            notification("retry", message="busy", level="error"),
        ),
        (Compacted(session_id="s", turn_id="t"), notification("compacted")),
        (
            Compacted(session_id="s", turn_id="t", summary="so far"),
            notification("compacted", message="so far"),
        ),
        (
            Unknown(session_id="s", turn_id="t", native_type="new", raw="{}"),
            {"type": "other_message", **ABOUT, "native_type": "new"},
        ),
    ],
)
def test_signs_of_life_are_short(message: Message, event: dict[str, object]) -> None:
    assert events(message) == [event]


USED = {
    "type": "token_usage",
    **ABOUT,
    "input_tokens": 24763,
    "output_tokens": 122,
    "total_tokens": 24885,
    "cache_read_tokens": 24448,
    "model": "",
}
NOT_TOLD = USED | {
    "input_tokens": 0,
    "output_tokens": 0,
    "total_tokens": 0,
    "cache_read_tokens": 0,
}


def test_a_turn_ends_with_its_tokens_and_its_outcome() -> None:
    ended = TurnEnded(
        session_id="s", turn_id="t", outcome="completed", usage=Usage(24763, 24448, 0, 122)
    )

    assert events(ended) == [USED, {"type": "turn_completed", **ABOUT}]


def test_a_failed_turn_says_whether_to_try_again() -> None:
    error = TurnError("server", "busy", retryable=True, native="InternalServerError")
    ended = TurnEnded(session_id="s", turn_id="t", outcome="failed", error=error)

    assert events(ended) == [
        NOT_TOLD,
        {
            "type": "turn_failed",
            **ABOUT,
            "error": {"kind": "server", "message": "busy", "retryable": True},
        },
    ]


def test_a_turn_that_failed_for_no_known_reason_says_so() -> None:
    [_, failed] = events(TurnEnded(session_id="s", turn_id="t", outcome="failed"))

    assert failed == {"type": "turn_failed", **ABOUT, "error": None}


def test_an_interrupted_turn_is_cancelled() -> None:
    ended = TurnEnded(session_id="s", turn_id="t", outcome="interrupted")

    assert events(ended) == [NOT_TOLD, {"type": "turn_cancelled", **ABOUT}]


def test_what_a_supervisor_need_not_know_is_left_out() -> None:
    assert (
        events(
            Prompt(text="fix it"),
            Diff(unified="diff"),
            UsageReport(),
            RateLimits(),
            SessionEnded(reason="eof"),
            Context(role="developer", text="be careful"),
            Malformed(raw="oops", problem="not JSON"),
        )
        == []
    )


def test_more_comes_when_asked_for() -> None:
    asked = events(
        Delta(session_id="s", turn_id="t", of="output", text="ok"),
        Context(session_id="s", turn_id="t", role="developer", text="be careful"),
        Unknown(session_id="s", turn_id="t", native_type="new", raw="{}"),
        Malformed(session_id="s", turn_id="t", raw="oops", problem="not JSON"),
        include=frozenset({"context", "deltas", "raw"}),
    )

    assert asked == [
        notification("delta"),
        notification("context", message="be careful"),
        {"type": "other_message", **ABOUT, "native_type": "new", "raw": "{}"},
        {"type": "other_message", **ABOUT, "native_type": "malformed", "raw": "oops"},
    ]


def test_a_delta_shows_life_and_nothing_else() -> None:
    [event] = events(Delta(session_id="s", turn_id="t", of="text", text="He"))

    assert event == {"type": "notification", **ABOUT, "event": "delta"}


def test_a_live_run_names_the_process() -> None:
    exporter = OrchestratorExporter(Options(pid=lambda: 4711))

    made = exporter.export([TurnStarted(session_id="s", turn_id="t")])

    assert msgspec.json.decode(made)["agent_pid"] == 4711
