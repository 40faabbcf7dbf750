from __future__ import annotations

from typing import Any, cast

import pytest

from dragoman.drive.approvals.policy import Decision, allow_all, ask_always, deny_all, read_verdict
from dragoman.model.intents import Decide, Steer
from dragoman.model.messages import ApprovalKind, ApprovalRequested


def _asked(kind: ApprovalKind = "command") -> ApprovalRequested:
    return ApprovalRequested(session_id="s", turn_id="t", approval_id="a", kind=kind)


@pytest.mark.parametrize("value", [None, "ask"])
def test_no_decision_is_a_question_to_a_person(value: str | None) -> None:
    assert read_verdict(value, "policy") == (None, None)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("allow", "allow"),
        ("allow_for_session", "allow_for_session"),
        ("cancel", "cancel"),
        (True, "allow"),
        (False, "deny"),
        (Decision(word="answered", answers={"q": ["yes"]}), "answered"),
    ],
)
def test_a_verdict_may_be_short(value: object, word: str) -> None:
    decision, problem = read_verdict(value, "person")

    assert decision is not None
    assert (decision.word, decision.by, problem) == (word, "person", None)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("yes", "unknown decision 'yes'; taken as deny"),
        ("Allow", "unknown decision 'Allow'; taken as deny"),
        (Decision(word=cast("Any", "sure")), "unknown decision 'sure'; taken as deny"),
        (1, "a value of type int is not a decision; taken as deny"),
        ({"word": "allow"}, "a value of type dict is not a decision; taken as deny"),
    ],
)
def test_what_is_not_understood_is_a_no(value: object, problem: str) -> None:
    reading = read_verdict(value, "policy")

    assert reading.decision == Decision(word="deny", by="policy")
    assert (reading.problem or "").startswith(problem)


def test_a_decision_keeps_the_name_of_who_made_it() -> None:
    by_rule = Decision(word="allow", by="rule 'x'")

    assert read_verdict(by_rule, "policy").decision == by_rule


def test_the_simple_policies() -> None:
    assert deny_all(_asked()).word == "deny"
    assert allow_all(_asked()) == Decision(word="allow")
    assert allow_all(_asked("question")) is None
    assert allow_all(_asked("elicitation")) is None
    assert ask_always(_asked()) is None


def test_a_decision_is_one_wish() -> None:
    decision = Decision(word="answered", answers={"q": ["a"]}, content={"x": 1})

    assert decision.intents(_asked()) == [
        Decide(
            session_id="s",
            approval_id="a",
            decision="answered",
            answers={"q": ["a"]},
            content={"x": 1},
        )
    ]


def test_a_word_to_the_model_is_said_before_the_refusal() -> None:
    decision = Decision(word="deny", message="ask me first")

    assert decision.intents(_asked()) == [
        Steer(session_id="s", turn_id="t", text="ask me first"),
        Decide(session_id="s", approval_id="a", decision="deny"),
    ]


def test_there_is_nothing_to_say_to_a_turn_that_is_stopped() -> None:
    [wish] = Decision(word="cancel", message="stop").intents(_asked())

    assert isinstance(wish, Decide)


def test_a_refusal_carries_its_reason_where_the_agent_has_room_for_it() -> None:
    [refused] = Decision(word="deny", message="ask me first").intents(_asked(), in_answer=True)
    allowed = Decision(word="allow", message="but hurry").intents(_asked(), in_answer=True)

    assert refused == Decide(
        session_id="s", approval_id="a", decision="deny", message="ask me first"
    )
    assert [type(each) for each in allowed] == [Steer, Decide]
