from __future__ import annotations

from dragoman.harnesses.assembly.approvals import AskedApprovals


def test_an_approval_opens_once_and_settles_once() -> None:
    approvals = AskedApprovals()

    assert [approvals.opens("a"), approvals.opens("a")] == [True, False]
    assert [approvals.settles("a"), approvals.settles("a")] == [True, False]


def test_a_settled_approval_cannot_be_reopened() -> None:
    approvals = AskedApprovals()
    approvals.opens("a")
    approvals.settles("a")

    assert not approvals.opens("a")
    assert approvals.oldest_open() is None


def test_an_answer_to_a_request_that_was_not_seen_counts_once() -> None:
    approvals = AskedApprovals()

    assert [approvals.settles("a"), approvals.settles("a")] == [True, False]
    assert not approvals.opens("a")


def test_the_oldest_open_approval_comes_first() -> None:
    approvals = AskedApprovals()
    approvals.opens("a")
    approvals.opens("b")

    assert approvals.oldest_open() == "a"
    approvals.settles("a")
    assert approvals.oldest_open() == "b"
    assert approvals.has_asked("a")
    assert not approvals.has_asked("c")
