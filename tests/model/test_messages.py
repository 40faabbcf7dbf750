from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import msgspec
import pytest

from dragoman.model.messages import (
    MESSAGE_TYPES,
    AlwaysAllow,
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
    decode,
    encode,
    type_of,
)
from dragoman.model.usage import Usage

AT = datetime(2026, 11, 15, 22, 26, 6, 123000, tzinfo=UTC)
COMMON = ["type", "session_id", "turn_id", "at", "line"]
CONTRACT = {
    "session_started": [
        "harness",
        "version",
        "model",
        "cwd",
        "parent_session_id",
        "parent_call_id",
        "transport",
    ],
    "turn_started": [],
    "prompt": ["text", "images"],
    "context": ["role", "text"],
    "text": ["text", "phase", "message_id", "item_id"],
    "thinking": ["text", "item_id"],
    "tool_call": ["call_id", "tool", "native_tool", "input"],
    "tool_result": ["call_id", "output", "is_error", "exit_code", "duration_ms", "status"],
    "plan": ["steps", "explanation"],
    "diff": ["unified"],
    "delta": ["of", "message_id", "text"],
    "usage": ["total", "last", "context_window", "response_id", "model", "cost"],
    "rate_limits": ["windows"],
    "approval_requested": [
        "approval_id",
        "kind",
        "tool",
        "summary",
        "detail",
        "choices",
        "command",
        "argv",
        "shell",
        "cwd",
        "always",
        "form",
        "url",
    ],
    "approval_settled": ["approval_id", "decision", "detail"],
    "notice": ["level", "text", "will_retry", "undone_turns"],
    "compacted": ["summary"],
    "turn_ended": ["outcome", "error", "usage"],
    "session_ended": ["reason"],
    "unknown": ["native_type", "raw"],
    "malformed": ["raw", "problem"],
}
FULL: list[Message] = [
    SessionStarted(
        session_id="s", turn_id="t", at=AT, line=7, harness="codex", version="0.166.0",
        model="gpt-5.5", cwd="/w", parent_session_id="p",
    ),
    TurnStarted(session_id="s", turn_id="t", at=AT, line=7),
    Prompt(line=7, text="fix it \u2028 😀 \x00", images=["data:image/png;base64,AA=="]),
    Context(line=7, role="developer", text="be careful"),
    Text(line=7, text="On it.", phase="final_answer", message_id="m"),
    Thinking(line=7, text="hm"),
    ToolCall(line=7, call_id="c", tool="Bash", native_tool="shell", input={"a": [1, None, 2.5]}),
    ToolResult(
        line=7, call_id="c", output="o", is_error=True, exit_code=-9, duration_ms=12,
        status="declined",
    ),
    Plan(line=7, steps=[PlanStep("look", "completed"), PlanStep("fix")], explanation="why"),
    Diff(line=7, unified="diff --git a/x b/x\n"),
    Delta(line=7, of="thinking", message_id="m", text="h"),
    UsageReport(line=7, total=Usage(10, 5, 1, 2, 1), last=Usage(1), context_window=258400),
    RateLimits(line=7, windows=[RateWindow("primary", 12.5, AT), RateWindow("secondary")]),
    ApprovalRequested(
        line=7, approval_id="a", kind="command", tool="Bash", summary="make",
        detail={"command": ["make"]}, choices=["accept", "decline"], command="zsh -lc make",
        argv=["zsh", "-lc", "make"], shell="zsh -lc", cwd="/workspace",
        always=AlwaysAllow(prefix=["make"], host="h", stored_in="rules"), form={"type": "object"},
        url="https://example.org/",
    ),
    ApprovalSettled(line=7, approval_id="a", decision="accept"),
    Notice(line=7, level="warning", text="slow", will_retry=True),
    Compacted(line=7, summary="all was well"),
    TurnEnded(
        line=7, outcome="failed", error=TurnError("server", "busy", True, "serverOverloaded"),
        usage=Usage(1, 0, 0, 1),
    ),
    SessionEnded(line=7, reason="shutdown"),
    Unknown(line=7, native_type="new.thing", raw='{"type":"new.thing"}'),
    Malformed(line=7, raw="oops", problem="not JSON"),
]  # fmt: skip
IDS = list(CONTRACT)


def plain(message: Message) -> dict[str, Any]:
    return msgspec.json.decode(encode(message), type=dict[str, Any])


def test_the_contract_lists_every_message_and_no_other() -> None:
    assert list(MESSAGE_TYPES) == list(CONTRACT)
    assert set(MESSAGE_TYPES.values()) == set(get_args(Message))
    assert [type_of(type(message)) for message in FULL] == list(CONTRACT)


@pytest.mark.parametrize("message", FULL, ids=IDS)
def test_a_message_has_the_fields_of_the_contract_in_their_order(message: Message) -> None:
    given = plain(message)

    assert list(given) == [*COMMON, *CONTRACT[given["type"]]]


@pytest.mark.parametrize("message", FULL, ids=IDS)
def test_a_message_survives_being_written_and_read(message: Message) -> None:
    line = encode(message)

    assert b"\n" not in line
    assert decode(line) == message
    assert type(decode(line.decode())) is type(message)


def test_a_message_is_written_in_full_even_where_it_says_nothing() -> None:
    assert encode(TurnStarted()) == (
        b'{"type":"turn_started","session_id":null,"turn_id":null,"at":null,"line":0}'
    )


def test_times_are_written_in_utc() -> None:
    assert plain(TurnStarted(at=AT))["at"] == "2026-11-15T22:26:06.123000Z"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"oops",
        b"[]",
        b"{}",
        b'{"type":"new_message"}',
        b'{"type":"text"}',
        b'{"type":"text","text":7}',
        b'{"type":"turn_ended","outcome":"abandoned"}',
    ],
    ids=["empty", "no json", "list", "no type", "new type", "no text", "number", "no outcome"],
)
def test_what_is_not_a_message_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(line)


def test_fields_that_a_later_release_may_add_are_ignored() -> None:
    assert decode(b'{"type":"thinking","text":"hm","mood":"calm"}') == Thinking(text="hm")


@pytest.mark.parametrize("message", FULL, ids=IDS)
def test_a_message_cannot_be_changed(message: Message) -> None:
    with pytest.raises(AttributeError):
        setattr(message, "line", 8)  # noqa: B010
    assert message.line == 7


def test_messages_share_no_lists() -> None:
    one, other = Prompt(text="a"), Prompt(text="b")

    one.images.append("x.png")

    assert other.images == []
