"""What holds for every format: the table, every kind of message, batches, whole lines."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from dragoman.export import FORMATS, find
from dragoman.export.base import Format, Options
from dragoman.model.messages import (
    MESSAGE_TYPES,
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
    type_of,
)
from dragoman.model.usage import Usage

AT = datetime(2026, 11, 15, 22, 26, 6, tzinfo=UTC)

EVERY_KIND: list[Message] = [
    SessionStarted(harness="codex", version="0.166.0", model="gpt-5.5", cwd="/w"),
    Context(role="developer", text="be careful"),
    TurnStarted(at=AT),
    Prompt(text="fix it", images=["a.png"]),
    Thinking(text="hm"),
    Delta(of="text", message_id="m1", text="On it"),
    Delta(of="output", message_id="c1", text="ok"),
    Text(text="On it.", message_id="m1"),
    ToolCall(call_id="c1", tool="Bash", native_tool="shell", input={"command": "make"}),
    ToolResult(call_id="c1", output="ok\n", exit_code=0),
    Plan(steps=[PlanStep("make it", "completed")]),
    Diff(unified="diff --git a/x b/x\n"),
    UsageReport(total=Usage(10, 5, 0, 2), last=Usage(10, 5, 0, 2)),
    RateLimits(windows=[RateWindow("primary", 12.5)]),
    ApprovalRequested(approval_id="a1", kind="command", summary="make", choices=["accept"]),
    ApprovalSettled(approval_id="a1", decision="accept"),
    Notice(level="warning", text="slow"),
    Compacted(summary="all was well"),
    TurnEnded(at=AT, outcome="failed", error=TurnError("server", "busy", retryable=True)),
    SessionEnded(reason="eof"),
    Unknown(native_type="new.thing", raw='{"type":"new.thing"}'),
    Malformed(raw="oops", problem="not JSON"),
]
EVERYTHING = Options(include=frozenset({"context", "deltas", "raw"}))


def test_formats_are_listed_in_the_order_of_help_texts() -> None:
    assert [each.name for each in FORMATS] == [
        "messages",
        "claude",
        "unified",
        "ndjson",
        "orchestrator",
        "text",
        "markdown",
        "json",
        "html",
        "ai-sdk",
        "ag-ui",
    ]


def test_a_format_is_found_by_its_name() -> None:
    assert find("text") is FORMATS[5]
    assert find("yaml") is None


def test_listing_the_formats_imports_none_of_them() -> None:
    script = (
        "import sys, dragoman.export; "
        "print(sorted(name for name in sys.modules if name.startswith('dragoman.export.')))"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    assert done.stdout.decode().strip() == "['dragoman.export.base']"


def test_the_sample_has_every_kind_of_message() -> None:
    assert {type_of(type(each)) for each in EVERY_KIND} == set(MESSAGE_TYPES)


@pytest.mark.parametrize("made", FORMATS, ids=lambda each: each.name)
@pytest.mark.parametrize("options", [Options(), EVERYTHING], ids=["default", "everything"])
def test_every_kind_of_message_comes_out_as_whole_lines(made: Format, options: Options) -> None:
    exporter = made.make(options)

    written = exporter.export(EVERY_KIND) + exporter.finish()

    assert written.endswith(b"\n")


@pytest.mark.parametrize("made", FORMATS, ids=lambda each: each.name)
def test_batches_do_not_change_what_is_written(made: Format) -> None:
    at_once, one_by_one = made.make(EVERYTHING), made.make(EVERYTHING)

    whole = at_once.export(EVERY_KIND) + at_once.finish()
    pieces = [one_by_one.export([each]) for each in EVERY_KIND]

    assert b"".join(pieces) + one_by_one.finish() == whole
    assert all(piece.endswith(b"\n") for piece in pieces if piece)


@pytest.mark.parametrize("made", FORMATS, ids=lambda each: each.name)
def test_no_messages_are_no_lines(made: Format) -> None:
    exporter = made.make(Options())

    nothing = b"[]\n" if made.name == "json" else b""
    assert (exporter.export([]), exporter.finish()) == (b"", nothing)


def test_only_what_is_made_to_be_handed_on_masks_secrets_unasked() -> None:
    assert [each.name for each in FORMATS if each.redacts] == ["html"]


@pytest.mark.parametrize("made", FORMATS, ids=lambda each: each.name)
def test_only_the_format_that_shows_source_lines_asks_for_them(made: Format) -> None:
    assert made.make(Options()).wants_lines == (made.name == "unified")
