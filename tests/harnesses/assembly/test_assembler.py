from __future__ import annotations

from datetime import UTC, datetime

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
)
from dragoman.model.usage import Usage
from support.assembling import reasons

ONE, TWO = Usage(120, 40, 0, 20), Usage(260, 90, 0, 50)


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


def test_rate_limits_are_told_when_they_change(out: Output, session: SessionAssembler) -> None:
    resets = datetime(2026, 11, 16, tzinfo=UTC)
    session.rate_limits([])
    session.rate_limits([RateWindow("primary", 12.5, resets)])
    session.rate_limits([RateWindow("primary", 12.5, resets)])
    session.rate_limits([RateWindow("primary", 13.0, resets)])

    limits = [message for message in out.take_messages() if isinstance(message, RateLimits)]
    assert [limit.windows[0].used_percent for limit in limits] == [12.5, 13.0]
    assert reasons(out) == ["rate limits: unchanged", "rate limits: unchanged"]


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
