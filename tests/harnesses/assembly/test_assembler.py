from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Diff,
    Notice,
    Plan,
    PlanStep,
    RateLimits,
    RateWindow,
    ResultStatus,
    ToolCall,
    ToolResult,
    TurnEnded,
    UsageReport,
)
from dragoman.model.usage import Usage

ONE, TWO = Usage(120, 40, 0, 20), Usage(260, 90, 0, 50)


@pytest.fixture
def out() -> Output:
    return Output(audit=True)


@pytest.fixture
def session(out: Output) -> SessionAssembler:
    """A session in the middle of a turn."""
    session = SessionAssembler(out, "codex", "s")
    session.begin_turn("t")
    out.take_messages()
    return session


def reasons(out: Output) -> list[str]:
    return [duplicate.reason for duplicate in out.take_duplicates()]


# Tools.


def test_a_call_and_its_result_are_told_once_each(out: Output, session: SessionAssembler) -> None:
    for _ in range(2):
        session.call("c", "Bash", "shell", {"command": "ls"})
    for output in ("a", "b"):
        session.result("c", output, exit_code=0, duration_ms=12)

    assert out.take_messages() == [
        ToolCall(
            session_id="s",
            turn_id="t",
            call_id="c",
            tool="Bash",
            native_tool="shell",
            input={"command": "ls"},
        ),
        ToolResult(
            session_id="s", turn_id="t", call_id="c", output="a", exit_code=0, duration_ms=12
        ),
    ]
    assert reasons(out) == ["tool call: emitted before", "tool result: emitted before"]


@pytest.mark.parametrize(
    ("is_error", "status", "told"),
    [
        (False, None, "completed"),
        (True, None, "failed"),
        (True, "declined", "declined"),
        (True, "abandoned", "abandoned"),
    ],
)
def test_a_result_without_a_status_has_one_by_its_error(
    out: Output,
    session: SessionAssembler,
    is_error: bool,
    status: ResultStatus | None,
    told: ResultStatus,
) -> None:
    session.call("c", "Bash", "shell", {})
    session.result("c", is_error=is_error, status=status)

    result = out.take_messages()[-1]
    assert isinstance(result, ToolResult)
    assert (result.is_error, result.status) == (is_error, told)


def test_what_a_call_was_given_is_known_while_it_is_open(session: SessionAssembler) -> None:
    session.call("c", "Edit", "file_change", {"changes": []})

    assert session.input_of("c") == {"changes": []}
    session.result("c")
    assert session.input_of("c") == {}


# Plans and diffs.


def test_a_plan_is_told_when_it_changes(out: Output, session: SessionAssembler) -> None:
    look, done = [PlanStep("look")], [PlanStep("look", "completed")]
    session.plan(look)
    session.plan(list(look))
    session.plan(look, "starting")
    session.plan(done, "starting")

    plans = [message for message in out.take_messages() if isinstance(message, Plan)]
    assert [(plan.steps, plan.explanation) for plan in plans] == [
        (look, None),
        (look, "starting"),
        (done, "starting"),
    ]
    assert reasons(out) == ["plan: unchanged"]


def test_a_diff_is_told_when_it_changes_and_not_while_it_is_empty(
    out: Output, session: SessionAssembler
) -> None:
    for unified in ("", "+a", "+a", "+b", ""):
        session.diff(unified)

    diffs = [message for message in out.take_messages() if isinstance(message, Diff)]
    assert [diff.unified for diff in diffs] == ["+a", "+b", ""]
    assert reasons(out) == ["diff: unchanged", "diff: unchanged"]


def test_each_turn_has_a_diff_of_its_own(out: Output, session: SessionAssembler) -> None:
    session.diff("+a")
    session.end_turn("completed")
    session.begin_turn("u")
    session.diff("+a")

    diffs = [message for message in out.take_messages() if isinstance(message, Diff)]
    assert [diff.turn_id for diff in diffs] == ["t", "u"]


# Tokens.


def test_totals_are_told_when_they_change_with_the_window_they_fill(
    out: Output, session: SessionAssembler
) -> None:
    session.usage(ONE, ONE, 258400)
    session.usage(ONE, ONE, 258400)
    session.usage(TWO, None)

    assert out.take_messages() == [
        UsageReport(session_id="s", turn_id="t", total=ONE, last=ONE, context_window=258400),
        UsageReport(session_id="s", turn_id="t", total=TWO, context_window=258400),
    ]
    assert reasons(out) == ["usage: unchanged"]


def test_the_first_total_of_a_resumed_session_is_an_old_one_until_the_agent_speaks(
    out: Output, session: SessionAssembler
) -> None:
    session.is_resumed = True
    session.usage(ONE, ONE)
    session.text("event", "ok")
    session.usage(TWO, TWO - ONE)
    session.end_turn("completed")

    end = out.take_messages()[-1]
    assert isinstance(end, TurnEnded)
    assert end.usage == TWO - ONE


def test_in_a_resumed_session_that_has_spoken_the_first_total_is_its_own(
    out: Output, session: SessionAssembler
) -> None:
    session.is_resumed = True
    session.text("event", "ok")
    session.usage(TWO, TWO - ONE)
    session.end_turn("completed")

    end = out.take_messages()[-1]
    assert isinstance(end, TurnEnded)
    assert end.usage == TWO - ONE


def test_where_nothing_is_counted_yet_the_first_total_is_the_turn_s(
    out: Output, session: SessionAssembler
) -> None:
    session.usage_starts()
    session.usage(TWO, TWO - ONE)
    session.end_turn("completed")

    end = out.take_messages()[-1]
    assert isinstance(end, TurnEnded)
    assert end.usage == TWO
    assert reasons(out) == ["usage: nothing counted yet"]


def test_the_record_of_a_response_is_told_even_if_its_total_is_known(
    out: Output, session: SessionAssembler
) -> None:
    session.usage_record(ONE, ONE)
    session.usage_record(ONE + ONE, ONE)
    session.end_turn("completed")

    first, second, end = out.take_messages()
    assert isinstance(first, UsageReport)
    assert isinstance(second, UsageReport)
    assert (first.total, second.total, second.last) == (ONE, ONE + ONE, ONE)
    assert isinstance(end, TurnEnded)
    assert end.usage == ONE + ONE


def test_usage_names_its_response_and_its_model(out: Output, session: SessionAssembler) -> None:
    session.usage(None, ONE, response_id="resp_1", model="small")
    session.usage_record(None, ONE, response_id="resp_2")

    reports = [message for message in out.take_messages() if isinstance(message, UsageReport)]
    assert [(report.response_id, report.model) for report in reports] == [
        ("resp_1", "small"),
        ("resp_2", None),
    ]


def test_a_cost_that_changes_is_news_even_if_the_tokens_do_not(
    out: Output, session: SessionAssembler
) -> None:
    session.usage(ONE, None, cost=0.25)
    session.usage(ONE, None, cost=0.25)
    session.usage(ONE, None, cost=0.5)
    session.usage(ONE, None)

    reports = [message for message in out.take_messages() if isinstance(message, UsageReport)]
    assert [report.cost for report in reports] == [0.25, 0.5]
    assert reasons(out) == ["usage: unchanged", "usage: unchanged"]


def test_rate_limits_are_told_when_they_change(out: Output, session: SessionAssembler) -> None:
    resets = datetime(2026, 11, 16, tzinfo=UTC)
    session.rate_limits([])
    session.rate_limits([RateWindow("primary", 12.5, resets)])
    session.rate_limits([RateWindow("primary", 12.5, resets)])
    session.rate_limits([RateWindow("primary", 13.0, resets)])

    limits = [message for message in out.take_messages() if isinstance(message, RateLimits)]
    assert [limit.windows[0].used_percent for limit in limits] == [12.5, 13.0]
    assert reasons(out) == ["rate limits: unchanged", "rate limits: unchanged"]


# Questions.


def ask(session: SessionAssembler, approval_id: str) -> None:
    session.ask(
        approval_id,
        "command",
        tool="Bash",
        summary="rm -rf build",
        detail={"cwd": "/workspace"},
        choices=["allow", "deny"],
    )


def test_a_question_is_asked_once_and_settled_once(out: Output, session: SessionAssembler) -> None:
    ask(session, "a")
    ask(session, "a")
    session.settle("a", "allow")
    session.settle("a", "deny")

    assert out.take_messages() == [
        ApprovalRequested(
            session_id="s",
            turn_id="t",
            approval_id="a",
            kind="command",
            tool="Bash",
            summary="rm -rf build",
            detail={"cwd": "/workspace"},
            choices=["allow", "deny"],
        ),
        ApprovalSettled(session_id="s", turn_id="t", approval_id="a", decision="allow"),
    ]
    assert reasons(out) == ["approval: requested before", "approval: settled before"]


def test_the_oldest_question_that_is_open_can_be_found(session: SessionAssembler) -> None:
    assert session.open_approval() is None
    ask(session, "a")
    ask(session, "b")

    assert session.open_approval() == "a"
    session.settle("a", "deny")
    assert session.open_approval() == "b"
    assert session.has_asked("a")
    assert not session.has_asked("c")


def test_an_answer_to_a_question_nobody_heard_is_told_once(
    out: Output, session: SessionAssembler
) -> None:
    session.settle("a", "allow")
    session.settle("a", "allow")
    ask(session, "a")

    assert [type(message) for message in out.take_messages()] == [ApprovalSettled]


# The harness's own words.


def test_a_notice_is_told_once_for_all_channels(out: Output, session: SessionAssembler) -> None:
    session.notice("event", "warning", "Reconnecting... 1/3", will_retry=True)
    session.notice("item", "warning", "Reconnecting... 1/3", will_retry=True)
    session.notice("event", "info", "hello")

    assert out.take_messages() == [
        Notice(
            session_id="s",
            turn_id="t",
            level="warning",
            text="Reconnecting... 1/3",
            will_retry=True,
        ),
        Notice(session_id="s", turn_id="t", level="info", text="hello"),
    ]
    assert reasons(out) == ["notice: emitted before"]


def test_each_compaction_is_told_once_for_all_channels(
    out: Output, session: SessionAssembler
) -> None:
    session.compacted("row", "SUMMARY")
    session.compacted("event")
    session.compacted("row", "SUMMARY of more")

    compactions = [message for message in out.take_messages() if isinstance(message, Compacted)]
    assert [compaction.summary for compaction in compactions] == ["SUMMARY", "SUMMARY of more"]
    assert reasons(out) == ["compaction: emitted before"]
