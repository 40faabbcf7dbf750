from __future__ import annotations

from typing import Any

import pytest

from dragoman.drive.approvals.grants import Grants
from dragoman.drive.approvals.policy import Decision
from dragoman.model.messages import AlwaysAllow, ApprovalRequested


def ask(kind: Any = "command", **facts: Any) -> ApprovalRequested:
    if kind == "command":
        facts = {"command": "bash -lc make", "detail": {"command": "make"}} | facts
    return ApprovalRequested(approval_id="a1", session_id="s1", kind=kind, **facts)


def edit(*paths: str) -> ApprovalRequested:
    return ask("edit", detail={"changes": [{"path": path, "kind": "update"} for path in paths]})


FOR_SESSION = Decision(word="allow_for_session", by="person")


@pytest.mark.parametrize(
    ("allowed", "asked", "covered"),
    [
        (ask(), ask(), True),
        (
            ask(detail={"command": "make", "reason": "a"}),
            ask(detail={"command": "make", "reason": "b"}),
            True,
        ),
        (
            ask(detail={"command": "make", "call_id": "c1"}),
            ask(detail={"command": "make", "call_id": "c2"}),
            True,
        ),
        (ask(), ask(command="bash -lc 'make x'", detail={"command": "make x"}), False),
        (ask(), ask(command="/tmp/bash -lc make"), False),
        (ask(cwd="/w"), ask(cwd="/w/sub"), False),
        (ask(argv=["make"]), ask(argv=["make", "x"]), False),
        (ask(), ask(detail={"command": "make", "network": {"host": "x"}}), False),
        (edit("/w/a", "/w/b"), edit("/w/a"), True),
        (edit("/w/a"), edit("/w/a", "/w/b"), False),
        (ask("edit"), ask("edit"), False),
        (
            ask("permissions", detail={"permissions": {"net": True}}),
            ask("permissions", detail={"permissions": {"net": True}}),
            True,
        ),
        (
            ask("permissions", detail={"permissions": {"net": True}}),
            ask("permissions", detail={"permissions": {"fs": "/"}}),
            False,
        ),
        (
            ask("tool", tool="mcp__a__b", detail={"arguments": 1}),
            ask("tool", tool="mcp__a__b", detail={"arguments": 2}),
            True,
        ),
        (ask("tool", tool="mcp__a__b"), ask("tool", tool="mcp__a__c"), False),
        (ask("tool"), ask("tool"), False),
        (ask("elicitation"), ask("elicitation"), False),
        (ask("question"), ask("question"), False),
    ],
)
def test_the_same_is_allowed_and_nothing_more(
    allowed: ApprovalRequested, asked: ApprovalRequested, covered: bool
) -> None:
    grants = Grants()
    assert grants.take(allowed, FOR_SESSION) == Decision(word="allow", by="person")
    assert (grants.covers(asked) is not None) is covered
    grants.clear()
    assert grants.covers(asked) is None


@pytest.mark.parametrize("word", ["allow", "deny", "cancel"])
def test_what_is_decided_once_is_not_remembered(word: Any) -> None:
    grants = Grants()
    assert grants.take(ask(), Decision(word=word)) == Decision(word=word)
    assert grants.covers(ask()) is None


def test_always_is_the_harness_to_remember_where_it_can() -> None:
    grants, always = Grants(), Decision(word="allow_always")
    offered = ask(always=AlwaysAllow(prefix=["make"]))
    assert grants.take(offered, always) == always
    assert grants.take(ask(choices=["allow_always"]), always) == always
    assert grants.covers(ask()) is None
    assert grants.take(ask(), always).word == "allow"
    assert grants.covers(ask()) is not None


def test_the_folder_of_a_request_that_names_none_is_the_sessions() -> None:
    grants = Grants()
    grants.take(ask(), FOR_SESSION, "/w")
    assert grants.covers(ask(cwd="/w")) is not None
    assert grants.covers(ask(), "/other") is None
