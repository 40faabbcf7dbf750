from __future__ import annotations

from typing import Any

from dragoman.cli.approvals.steps import (
    Came,
    Leave,
    Menu,
    QuestionStep,
    Reason,
    choices,
    first_step,
)
from dragoman.cli.live.ink import Ink
from dragoman.cli.live.keys import Key, KeyReader
from dragoman.client.deciding import Decision
from dragoman.model.messages import ApprovalRequested

PLAIN = Ink(colour=False)


def asked(kind: Any = "command", **given: Any) -> ApprovalRequested:
    return ApprovalRequested(approval_id="a", kind=kind, **given)


def after(step: Any, data: bytes) -> Came:
    """Where these keys lead."""
    came: Came = step
    for key in KeyReader().feed(data):
        assert not isinstance(came, Decision)
        assert came is not None
        came = came.press(key) or came
    return came


def test_choices_stand_side_by_side_where_there_is_room() -> None:
    offered = [("y", "yes"), ("n", "no"), ("c", "no, and stop")]

    assert choices(PLAIN, 80, offered) == ["y yes   n no   c no, and stop"]
    assert choices(PLAIN, 20, offered) == ["y yes   n no", "c no, and stop"]
    assert choices(PLAIN, 9, offered) == ["y yes", "n no", "c no, and", "  stop"]


def test_a_menu_offers_what_the_agent_offers() -> None:
    menu = first_step(asked(choices=["allow", "deny"]))

    assert menu.keys == "ynw"
    assert menu.press(Key("text", "c")) is None
    assert menu.press(Key("text", "yes")) is None
    assert menu.press(Key("text", "y")) == Decision(word="allow", by="person")


def test_a_reason_can_be_given_up() -> None:
    menu = Menu(asked())
    reason = after(menu, b"w")

    assert isinstance(reason, Reason)
    assert after(Reason(menu), b"x\x1b") is menu
    assert after(reason, b"not now\r") == Decision(word="deny", message="not now", by="person")


def test_no_answer_to_a_question_is_a_no_or_a_stop() -> None:
    step = first_step(asked("question", summary="Well?"))

    assert isinstance(step, QuestionStep)
    leave = after(step, b"\x1b")
    assert isinstance(leave, Leave)
    assert leave.press(Key("escape")) is step
    assert after(leave, b"n") == Decision(word="deny", by="person")
    assert after(leave, b"c") == Decision(word="cancel", by="person")


def test_a_secret_is_not_seen() -> None:
    questions = [{"id": "p", "question": "Password?", "isSecret": True}]
    step = first_step(asked("question", detail={"questions": questions}))
    after(step, b"abc")

    assert step.editor is not None
    assert "abc" not in "".join(step.editor.rows(PLAIN, 40))
    assert after(step, b"\r") == Decision(word="answered", answers={"p": ["abc"]}, by="person")


def test_an_address_is_confirmed_and_a_form_is_filled_in() -> None:
    url = Menu(asked("elicitation", url="https://x", choices=["allow", "deny", "cancel"]))
    form = Menu(asked("elicitation", form={"type": "object"}, choices=["allow", "deny"]))

    assert "y done, continue" in url.head(PLAIN, 80)[0]
    assert after(url, b"y") == Decision(word="allow", by="person")
    assert "y fill in the form" in form.head(PLAIN, 80)[0]
