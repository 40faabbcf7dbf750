"""A session with everything that a chat component may meet, in two turns and a half."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

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
    PlanStep,
    Prompt,
    RateLimits,
    RateWindow,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    UsageReport,
)
from dragoman.model.usage import Usage

SPENT = Usage(1200, 1000, 0, 40, 12)
AT = datetime(2026, 11, 16, 6, 0, tzinfo=UTC)


def story(session_id: str = "native-s1") -> list[Message]:
    """The whole of it."""
    return [
        SessionStarted(session_id=session_id, harness="codex", version="0.166.0", model="gpt-5.5"),
        Context(session_id=session_id, role="developer", text="be careful"),
        *first_turn(session_id),
        *second_turn(session_id),
        TurnStarted(session_id=session_id, turn_id="t3"),
        Text(session_id=session_id, turn_id="t3", text="Where was I"),
        TurnEnded(session_id=session_id, turn_id="t3", outcome="interrupted"),
        Malformed(session_id=session_id, raw="oops", problem="not JSON"),
    ]


def first_turn(session_id: str = "native-s1") -> list[Message]:
    of: dict[str, Any] = {"session_id": session_id, "turn_id": "t1"}
    agent: dict[str, Any] = {"session_id": "helper", "turn_id": "h1"}
    call = ToolCall(
        **of, call_id="c1", tool="Bash", native_tool="shell", input={"command": "make test"}
    )
    edit = ToolCall(**of, call_id="c2", tool="Edit", native_tool="apply_patch", input={"files": []})
    return [
        TurnStarted(**of, at=AT),
        Prompt(**of, text="Fix the test", images=["a.png"]),
        Delta(**of, of="thinking", text="Let me "),
        Delta(**of, of="thinking", text="see."),
        Thinking(**of, text="Let me see."),
        Delta(**of, of="text", message_id="m1", text="I will run"),
        Delta(**of, of="text", message_id="m1", text=" the tests."),
        Text(**of, text="I will run the tests.", message_id="m1", phase="commentary"),
        Plan(**of, steps=[PlanStep("run the tests", "in_progress"), PlanStep("fix it")]),
        call,
        Delta(**of, of="output", message_id="c1", text="F"),
        ToolResult(**of, call_id="c1", output="1 failed", is_error=True, exit_code=1),
        TurnStarted(**agent),
        Text(**agent, text="A helper speaks."),
        TurnEnded(**agent, outcome="completed"),
        edit,
        ApprovalRequested(
            **of,
            approval_id="c2",
            kind="edit",
            tool="Edit",
            summary="update a.py",
            choices=["allow"],
        ),
        ApprovalSettled(**of, approval_id="c2", decision="allow"),
        ToolResult(**of, call_id="c2", output="Done", duration_ms=12),
        ToolResult(**of, call_id="late", output="of a call that nobody saw"),
        ToolResult(**of, call_id="c3", status="declined", is_error=True),
        Diff(**of, unified="diff --git a/a.py b/a.py\n"),
        Notice(**of, level="warning", text="slow", will_retry=True),
        UsageReport(**of, total=SPENT, last=SPENT, context_window=200_000),
        RateLimits(**of, windows=[RateWindow("primary", 12.5)]),
        Text(**of, text="All is well now.", phase="final_answer"),
        TurnEnded(**of, at=AT, outcome="completed", usage=SPENT),
    ]


def second_turn(session_id: str = "native-s1") -> list[Message]:
    of: dict[str, Any] = {"session_id": session_id, "turn_id": "t2"}
    return [
        TurnStarted(**of),
        Compacted(**of, summary="all was well"),
        Delta(**of, of="text", message_id="m2", text="pieces of this"),
        Text(**of, text="Some of its pieces were lost.", message_id="m2"),
        Delta(**of, of="text", message_id="m3", text="never finis"),
        TurnEnded(**of, outcome="failed", error=TurnError("overloaded", "busy", retryable=True)),
    ]


def parsed(written: bytes) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in written.split(b"\n") if line]
