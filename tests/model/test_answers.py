from __future__ import annotations

import msgspec
import pytest

from dragoman.model.answers import (
    AccountLimits,
    AgentAccount,
    AgentSession,
    AgentSessions,
    AgentTurn,
    Model,
)

_ANSWERS = [
    Model(id="m", label="M", efforts=["low", "high"], default_effort="low", native={"id": "m"}),
    AgentAccount(kind="subscription", name="a@example.invalid", plan="plus"),
    AgentSessions(
        sessions=[AgentSession(id="s", turns=[AgentTurn(id="t", outcome="failed", items=2)])],
        cursor="next",
    ),
    AccountLimits(plan="plus", native={"planType": "plus"}),
]


@pytest.mark.parametrize("answer", _ANSWERS, ids=lambda answer: type(answer).__name__)
def test_an_answer_survives_json(answer: msgspec.Struct) -> None:
    line = msgspec.json.encode(answer)
    assert msgspec.json.decode(line, type=type(answer)) == answer


def test_what_an_agent_does_not_say_is_empty_and_not_shared() -> None:
    one, two = Model(id="one"), Model(id="two")

    assert (one.label, one.efforts, one.default_effort, one.is_default) == ("", [], None, False)
    one.native["id"] = "one"
    assert two.native == {}
    assert AgentTurn().outcome is None
    assert AgentSession(id="s").turns == []
    assert AccountLimits().windows == []


def test_an_answer_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        setattr(Model(id="m"), "id", "n")  # noqa: B010  a type checker refuses the assignment
