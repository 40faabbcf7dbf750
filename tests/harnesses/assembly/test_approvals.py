from __future__ import annotations

import pytest

from dragoman.harnesses.assembly.approvals import SessionApprovals
from dragoman.harnesses.assembly.output import Output, SessionOutput


@pytest.fixture
def stream() -> Output:
    return Output(audit=True)


@pytest.fixture
def approvals(stream: Output) -> SessionApprovals:
    return SessionApprovals(SessionOutput(stream, "s"))


def ask(approvals: SessionApprovals, approval_id: str) -> None:
    approvals.ask(
        approval_id, "command", tool="Bash", summary="rm", detail={}, choices=["allow", "deny"]
    )


def emitted(stream: Output) -> list[str]:
    return [type(message).__name__ for message in stream.take_messages()]


def test_an_approval_is_requested_once_and_settled_once(
    stream: Output, approvals: SessionApprovals
) -> None:
    for _ in range(2):
        ask(approvals, "a")
    for decision in ("allow", "deny"):
        approvals.settle("a", decision)

    assert emitted(stream) == ["ApprovalRequested", "ApprovalSettled"]
    assert [each.reason for each in stream.take_duplicates()] == [
        "approval: requested before",
        "approval: settled before",
    ]


def test_a_settled_approval_cannot_be_reopened(approvals: SessionApprovals) -> None:
    ask(approvals, "a")
    approvals.settle("a", "deny")
    ask(approvals, "a")

    assert approvals.oldest_open() is None


def test_an_answer_to_a_request_that_was_not_in_the_stream_is_emitted_once(
    stream: Output, approvals: SessionApprovals
) -> None:
    approvals.settle("a", "allow")
    approvals.settle("a", "allow")
    ask(approvals, "a")

    assert emitted(stream) == ["ApprovalSettled"]


def test_the_oldest_open_approval_comes_first(approvals: SessionApprovals) -> None:
    ask(approvals, "a")
    ask(approvals, "b")

    assert approvals.oldest_open() == "a"
    approvals.settle("a", "allow")
    assert approvals.oldest_open() == "b"
    assert approvals.has_asked("a")
    assert not approvals.has_asked("c")
